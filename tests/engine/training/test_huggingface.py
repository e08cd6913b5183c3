"""Fine-tuning orders of transformers' models, from a folder to a verified run; what cannot be ordered is a sentence."""

from __future__ import annotations

import json
import pickle
import socket
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from counterfoil.cli import main
from counterfoil.program.capture import capture
from counterfoil.program.recompute import count_recomputed, recompute_activations
from counterfoil.program.update import Sgd
from counterfoil.training.huggingface import (
    FineTuning,
    Lora,
    Task,
    loading,
    order_huggingface,
    parse_lora,
    prepare_huggingface,
)
from counterfoil.training.huggingface.folder import read_folder
from counterfoil.training.huggingface.records import data_files, read_records
from counterfoil.training.huggingface.rows import IGNORED, causal
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, DataError
from counterfoil_core.base.generators import finish
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.operators.node import TensorType
from counterfoil_core.program.graph import Program
from counterfoil_core.values.outcome import Outcome
from support import small_models
from support.bundles import test_key
from support.jobs import audited, record_job

pytest.importorskip("transformers", reason="the library transformers is not installed")

PAIRS = [
    {"prompt": "the auditor", "completion": " replays what the trainer did"},
    {"prompt": "the client keeps", "completion": " the order"},
    {"prompt": "nobody", "completion": " trusts a loss"},
    {"prompt": "what was not ordered", "completion": " was not trained"},
]
LABELLED = [{"text": text, "label": label} for text, label in zip(small_models.SENTENCES, "abca", strict=True)]
QUICK = FineTuning(steps=2, batch_size=2, checkpoint_every=2)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of tiny models."""
    folder = tmp_path_factory.mktemp("models")
    small_models.gpt2(folder / "gpt2")
    small_models.llama(folder / "llama")
    small_models.bert(folder / "bert")
    small_models.bert(folder / "classifier", classes=3)
    return folder


@pytest.fixture
def rows(tmp_path: Path) -> Callable[..., Path]:
    """Writes rows as JSON lines."""

    def write(listed: list[dict[str, Any]], name: str = "train.jsonl") -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in listed), encoding="utf-8")
        return path

    return write


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Where a connection, or a look at a name of the network, would leave its trace."""
    tried: list[object] = []

    def refuse(*arguments: object, **_: object) -> None:
        tried.append(arguments)
        raise OSError("no network in this test")

    for name in ("create_connection", "getaddrinfo", "gethostbyname"):
        monkeypatch.setattr(socket, name, refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    return tried


def verified(folder: Path, draft: Any) -> Path:
    """Record a run of an order, audit it on imitated hardware, and return the run."""
    job = record_job(folder, draft, test_key(folder))
    report = audited(job.run, job.order, perturbation="reversed").report
    assert report.outcome is Outcome.VERIFIED, report.reason
    assert report.steps_replayed == draft.manifest.steps
    return job.run


def test_a_causal_model_learns_completions_only(
    models: Path,
    rows: Callable[..., Path],
    no_network: list[object],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    data = rows(PAIRS)
    out = tmp_path / "order.cfoil"
    command = ["order", "hf", str(models / "gpt2"), "--data", str(data), "--out", str(out), "--steps", "2"]
    assert main([*command, "--batch-size", "2", "--lr", "0.001", "--warmup", "1"]) == 0
    assert no_network == []
    with BundleReader.open(out) as reader:
        contents, manifest = reader.check_order_contents(), reader.manifest
    ids, labels, mask = (contents.data[name] for name in ("input_ids", "labels", "attention_mask"))
    assert ids.shape == labels.shape == mask.shape == (4, ids.shape[1])
    words = small_models.tokenizer(eos_token="<|endoftext|>", bos_token="<|endoftext|>")
    for row, pair in enumerate(PAIRS):
        learned = labels[row] != IGNORED
        assert words.decode(labels[row][learned]) == pair["completion"] + "<|endoftext|>"
        assert words.decode(ids[row][mask[row] == 1]) == pair["prompt"] + pair["completion"] + "<|endoftext|>"
        assert not (learned & (mask[row] == 0)).any()
    rates = contents.scalars[:, manifest.scalar_names.index("lr")]
    np.testing.assert_allclose(rates, [0.001, 0.001])

    files = manifest.sources["model"].files
    assert set(files) == {path.name for path in (models / "gpt2").iterdir()} - {"generation_config.json"}
    weights = (models / "gpt2" / "model.safetensors").read_bytes()
    assert files["model.safetensors"].digest.hex == sha256(weights).hexdigest()
    assert manifest.sources["data"].files["train.jsonl"].digest.hex == sha256(data.read_bytes()).hexdigest()
    capsys.readouterr()
    assert main(["inspect", str(out)]) == 0
    assert f"SHA-256 {sha256(weights).hexdigest()}" in capsys.readouterr().out


def test_the_network_would_be_noticed(no_network: list[object]) -> None:
    """The control of the test above."""
    with pytest.raises(OSError, match="no network"):
        socket.create_connection(("127.0.0.1", 9))
    assert len(no_network) == 1


@pytest.mark.slow
def test_padding_changes_nothing_of_the_loss(models: Path, rows: Callable[..., Path], tmp_path: Path) -> None:
    """The loss of the recorded step is the mean over each row's own tokens, as transformers gives it unpadded."""
    import transformers

    texts = [{"text": text} for text in small_models.SENTENCES[:2]]
    draft = order_huggingface(models / "llama", rows(texts), replace(QUICK, steps=1))
    run = verified(tmp_path, draft)
    with BundleReader.open(run) as reader:
        loss = float(reader.losses()[0])
    model = transformers.LlamaForCausalLM.from_pretrained(models / "llama", dtype=torch.float64)
    words = transformers.AutoTokenizer.from_pretrained(models / "llama")
    total, count = 0.0, 0
    for row in texts:
        ids = torch.tensor([[*words(row["text"])["input_ids"], words.eos_token_id]])
        with torch.no_grad():
            total += float(model(ids, labels=ids).loss) * (ids.shape[1] - 1)
        count += ids.shape[1] - 1
    assert loss == pytest.approx(total / count, rel=1e-5)
    assert draft.manifest.data["attention_mask"].dtype == "uint8"


@pytest.mark.slow
def test_a_classifier_takes_names_of_labels(models: Path, rows: Callable[..., Path], tmp_path: Path) -> None:
    (*_,) = events = list(prepare_events(models / "bert", rows(LABELLED), QUICK))
    prepared = events[-1]
    assert prepared.draft.data["labels"].tolist() == [0, 1, 2, 0]
    assert prepared.draft.initial["classifier.weight"].shape == (3, 16)
    assert any("drawn from the seed" in note and "classifier.weight" in note for note in prepared.notes)
    torch.manual_seed(99)  # of which nothing depends
    again = order_huggingface(models / "bert", rows(LABELLED), QUICK)
    assert again.manifest.digest == prepared.draft.manifest.digest
    verified(tmp_path, prepared.draft)


def prepare_events(folder: Path, data: Path, settings: FineTuning) -> Any:
    prepared = yield from prepare_huggingface(folder, data, settings)
    yield prepared


def test_the_end_token_learns_although_rows_are_padded_with_it(models: Path) -> None:
    folder = read_folder(models / "llama")
    tokenizer, config = loading.load_tokenizer(folder), loading.load_config(folder)
    assert tokenizer.pad_token_id is None
    model, new = loading.load_model(folder, config, Task.CAUSAL_LM, loading.TOKENS, tokenizer)
    assert model.get_input_embeddings().padding_idx is None
    assert (new, model.training, model.config.use_cache) == ((), True, False)


def test_a_model_with_gradient_checkpointing_is_captured_as_without(models: Path) -> None:
    import transformers

    def made(checkpointing: bool) -> Program:
        model = transformers.AutoModelForCausalLM.from_pretrained(models / "gpt2", use_cache=False).train()
        if checkpointing:
            model.gradient_checkpointing_enable({"use_reentrant": False})
        batch = {"input_ids": TensorType("int64", (2, 6))}
        return capture(
            model, lambda m, b: m(input_ids=b["input_ids"], labels=b["input_ids"]).loss, Sgd(), batch
        ).program

    plain = made(False)
    assert made(True).to_bytes() == plain.to_bytes()
    assert count_recomputed(finish(recompute_activations(plain, 3, 8)).program) > 0


@pytest.mark.slow
def test_a_text_file_is_packed_and_trains_under_an_exact_profile(models: Path, tmp_path: Path) -> None:
    book = tmp_path / "book.txt"
    book.write_text("\n".join(small_models.SENTENCES * 4), encoding="utf-8")
    settings = replace(QUICK, length=12, precision=ExactPrecision(20), micro_batches=2)
    draft = order_huggingface(models / "gpt2", book, settings)
    assert set(draft.data) == {"input_ids"}
    words = small_models.tokenizer(eos_token="<|endoftext|>", bos_token="<|endoftext|>")
    read = words.decode(draft.data["input_ids"].ravel())
    assert len(read) > 400
    assert f"{book.read_text()}<|endoftext|>".startswith(read)
    verified(tmp_path, draft)


@pytest.mark.slow
def test_the_batches_of_a_fine_tuning_are_divided_into_shares(
    models: Path, rows: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "job.cfoil"
    command = ["order", "hf", str(models / "gpt2"), "--data", str(rows(PAIRS)), "--out", str(out), "--steps", "2"]
    assert main([*command, "--batch-size", "4", "--shares", "2", "--micro-batches", "2", "--no-trial"]) == 0
    assert "Each step has 2 shares of 2 rows, which are added exactly." in capsys.readouterr().out
    with BundleReader.open(out) as reader:
        manifest = reader.manifest
    assert manifest.shares is not None
    assert manifest.shares.count == 2
    assert "2 micro-batches" in manifest.optimizer


def test_adapters_leave_the_model_as_it_is(models: Path, rows: Callable[..., Path], tmp_path: Path) -> None:
    pytest.importorskip("peft", reason="the library peft is not installed")
    draft = order_huggingface(models / "llama", rows(PAIRS), replace(QUICK, lora=Lora(r=2)))
    run = verified(tmp_path, draft)
    with BundleReader.open(run) as reader:
        after = reader.checkpoint(2)
    changed = {name for name, value in draft.initial.items() if not np.array_equal(value, after[name])}
    weights = {name for name in changed if ":" not in name}
    assert weights
    assert all("lora_" in name for name in weights)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("r=8", Lora(8)), (" r=4, alpha=2.5,dropout=0.1,modules=a+b", Lora(4, 2.5, 0.1, ("a", "b"))), ("r=0", None),
     ("8", None), ("alpha=3", None), ("r=two", None), ("r=2,r=3", None), ("r=2,bias=all", None)],
)  # fmt: skip
def test_adapters_are_written_in_one_way(text: str, expected: Lora | None) -> None:
    if expected is None:
        with pytest.raises(DataError):
            parse_lora(text)
    else:
        assert parse_lora(text) == expected


def test_a_parquet_file(models: Path, tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow", reason="the library pyarrow is not installed")
    import pyarrow.parquet

    listed = [{"body": row["text"], "label": "abc".index(row["label"])} for row in LABELLED]
    pyarrow.parquet.write_table(arrow.Table.from_pylist(listed), tmp_path / "rows.parquet")
    draft = order_huggingface(
        models / "classifier", tmp_path / "rows.parquet", replace(QUICK, columns={"text": "body"})
    )
    assert draft.data["labels"].tolist() == [0, 1, 2, 0]
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(DataError, match="Parquet"):
        order_huggingface(models / "classifier", tmp_path / "bad.parquet", QUICK)


def refused(folder: Path, data: Path, settings: FineTuning = QUICK) -> str:
    with pytest.raises(DataError) as caught:
        order_huggingface(folder, data, settings)
    assert caught.value.remedy
    return str(caught.value)


def test_what_is_no_folder_of_a_model_is_a_sentence(models: Path, rows: Callable[..., Path], tmp_path: Path) -> None:
    data = rows(PAIRS)
    assert "Nothing is downloaded" in refused(Path("openai-community/gpt2"), data)
    (tmp_path / "adapter").mkdir()
    (tmp_path / "adapter" / "adapter_config.json").write_text("{}")
    assert "merge_and_unload" in refused(tmp_path / "adapter", data)
    copied = tmp_path / "copied"
    copied.mkdir()
    for file in (models / "gpt2").iterdir():
        (copied / file.name).write_bytes(file.read_bytes())
    config = json.loads((copied / "config.json").read_text())
    (copied / "config.json").write_text(json.dumps({**config, "quantization_config": {"quant_method": "gptq"}}))
    assert "quantised" in refused(copied, data)
    own_code = {"auto_map": {"AutoConfig": "own.Config"}, "model_type": "own", "architectures": ["Own"]}
    (copied / "config.json").write_text(json.dumps({**config, **own_code}))
    (copied / "own.py").write_text("raise SystemExit('code of the folder ran')")
    assert "trust_remote_code" in refused(copied, data)
    (copied / "config.json").write_text(json.dumps(config))
    (copied / "tokenizer.json").unlink()
    assert "tokenizer.json" in refused(copied, data)
    (copied / "model.safetensors").write_bytes(b"nothing")
    assert "damaged" in refused(copied, data)


def test_a_pickle_is_refused_and_never_read(models: Path, rows: Callable[..., Path], tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "sprung",))

    folder = tmp_path / "pickled"
    folder.mkdir()
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (folder / name).write_bytes((models / "gpt2" / name).read_bytes())
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"transformer.wte.weight": Trap()}))
    said = refused(folder, rows(PAIRS))
    assert "pytorch_model.bin" in said
    assert "safe_serialization" in said
    assert not (tmp_path / "sprung").exists()


def test_data_that_cannot_be_used_are_a_sentence(models: Path, rows: Callable[..., Path], tmp_path: Path) -> None:
    model = models / "gpt2"
    assert "--columns" in refused(model, rows([{"content": "x"}]))
    assert "apply_chat_template" in refused(model, rows([{"messages": []}]))
    path = rows(PAIRS)
    path.write_text(path.read_text() + '{"prompt": "a"}\n')
    with pytest.raises(DataError, match=r"Row 5 .* no 'completion'"):
        order_huggingface(model, path, QUICK)
    path.write_text('{"text": "a"}\n\n{"text": \n')
    assert "Line 3" in refused(model, path)
    (tmp_path / "binary.txt").write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in refused(model, tmp_path / "binary.txt")
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    assert "no data" in refused(model, mixed)
    (mixed / "a.txt").write_text("a")
    (mixed / "a.jsonl").write_text("{}")
    assert "several kinds" in refused(model, mixed)
    assert "too few for a batch" in refused(model, rows(PAIRS), replace(QUICK, batch_size=5))
    assert "at most 48" in refused(model, rows(PAIRS), replace(QUICK, length=49))
    assert "no labels" in refused(models / "bert", rows(PAIRS), replace(QUICK, task=Task.CLASSIFICATION))
    assert "none of the model's 3" in refused(models / "classifier", rows([{"text": "a", "label": 7}]))
    assert "causal language model" in refused(models / "bert", rows([{"text": "a b c"}] * 2))
    assert "nothing" not in refused(model, rows([{"text": ""}] * 2))


def test_of_a_folder_the_training_part_is_read_and_long_rows_are_cut(rows: Callable[..., Path], tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    rows([{"text": "replay " * 30}, {"text": "replay"}], "data/train-0.jsonl")
    rows([{"text": "the client"}], "data/train-1.jsonl")
    rows([{"text": "secret"}], "data/test.jsonl")
    files = data_files(folder)
    assert [file.name for file in files] == ["train-0.jsonl", "train-1.jsonl"]
    made = finish(causal(finish(read_records(files, {})), small_models.tokenizer(eos_token="</s>"), 8, None))
    assert made.data["input_ids"].shape == (3, 8)
    assert (made.cut, made.left_out) == (1, 0)


def test_the_revision_of_a_folder(models: Path, tmp_path: Path) -> None:
    commit = "0123456789abcdef" * 2 + "01234567"
    plain = tmp_path / "snapshots" / commit
    plain.mkdir(parents=True)
    for file in (models / "gpt2").iterdir():
        (plain / file.name).write_bytes(file.read_bytes())
    assert read_folder(plain).revision == commit
    moved = plain.rename(tmp_path / "moved")
    assert read_folder(moved).revision is None
    (moved / ".git").mkdir()
    (moved / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (moved / ".git" / "packed-refs").write_text(f"# pack-refs\n{commit} refs/heads/main\n")
    assert read_folder(moved).revision == commit
    notes = moved / ".cache" / "huggingface" / "download"
    notes.mkdir(parents=True)
    (notes / "config.json.metadata").write_text(f"{'f' * 40}\netag\n1.0\n")
    assert read_folder(moved).revision == "f" * 40


def test_cancelled_while_tokenising(models: Path, rows: Callable[..., Path]) -> None:
    token = CancelToken()
    seen = []
    work = prepare_huggingface(models / "gpt2", rows(PAIRS * 600), QUICK, token)

    def watch() -> None:
        for event in work:
            if event.stage == "Tokenising":
                seen.append((event.done, event.total))
                token.cancel()

    with pytest.raises(CancelledError):
        watch()
    assert seen == [(1000, 2400)]


def test_a_library_that_is_missing_is_a_sentence(
    models: Path,
    rows: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "transformers", None)
    command = ["order", "hf", str(models / "gpt2"), "--data", str(rows(PAIRS)), "--out", str(tmp_path / "x.cfoil")]
    assert main(command) == 4
    assert "pip install 'counterfoil[hf]'" in " ".join(capsys.readouterr().err.split())
