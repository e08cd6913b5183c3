"""A folder for a model hub: libraries load it, it is the run's final state, and its card says no more than is so."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from counterfoil import NO_TRUST, Judgement, read_judgement
from counterfoil.cli import main
from counterfoil.hub.architecture import find_architecture
from counterfoil.hub.folder import Wanted, Written, write_folder
from counterfoil.hub.source import read_source
from counterfoil.program.update import Sgd, WeightAverage
from counterfoil.signing.privatekeys import generate_key, load_private_key
from counterfoil.training.huggingface import FineTuning, Lora, order_huggingface
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.base.errors import DataError
from counterfoil_core.bundle.layout import checkpoint_path
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.keys import SigningKey, load_public_key
from counterfoil_core.statement.verdict import preview_verdict
from counterfoil_core.values.outcome import CheckState, Outcome
from counterfoil_core.values.report import AuditReport
from counterfoil_core.values.sampling import SegmentRequest
from support import small_models
from support.bundles import opened_for_change, test_key
from support.jobs import audited, draw, own_order, record_job, record_run, replace_bytes
from support.reports import checks

transformers = pytest.importorskip("transformers", reason="the library transformers is not installed")
QUICK = FineTuning(steps=2, batch_size=2, checkpoint_every=1, length=12)
TEXTS = [{"text": text} for text in small_models.SENTENCES]
LABELLED = [{"text": text, "label": label} for text, label in zip(small_models.SENTENCES, "abca", strict=True)]
TIME = datetime(2026, 1, 31, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Case:
    """A model's folder, a run that trained the model, and what an auditor found of the run."""

    model: Path
    run: Path
    report: AuditReport
    verdict: Path

    def state(self) -> dict[str, torch.Tensor]:
        with BundleReader.open(self.run) as reader:
            final = reader.checkpoint(reader.manifest.steps)
        return {name: torch.from_numpy(array) for name, array in final.items()}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the auditor's key."""
    folder = tmp_path_factory.mktemp("hub")
    generate_key(folder / "auditor.pem", None)
    return folder


def signed(place: Path, report: AuditReport, name: str, key: SigningKey | None = None) -> Path:
    path = place / f"{name}.json"
    path.write_bytes((key or load_private_key(place / "auditor.pem", None)).sign(preview_verdict(report, TIME)))
    return path


def judged(place: Path, name: str, model: Path, draft: Any) -> Case:
    """Record a run of an order, and audit it whole."""
    (place / name).mkdir()
    job = record_job(place / name, draft, test_key(place / name))
    report = audited(job.run, job.order).report
    assert report.outcome is Outcome.VERIFIED, report.reason
    return Case(model, job.run, report, signed(place, report, name))


def rows(place: Path, name: str, listed: list[dict[str, str]]) -> Path:
    path = place / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in listed), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def gpt2(place: Path) -> Case:
    model = small_models.gpt2(place / "models" / "gpt2")
    return judged(place, "gpt2", model, order_huggingface(model, rows(place, "texts", TEXTS), QUICK))


@pytest.fixture(scope="module")
def classifier(place: Path) -> Case:
    """A GPT-2 of a base model that learns three labels: its folder knows neither them nor a token for padding."""
    model = small_models.gpt2(place / "models" / "labelled", pad_token_id=None)
    return judged(place, "classifier", model, order_huggingface(model, rows(place, "labelled", LABELLED), QUICK))


def exported(case: Case, out: Path, *more: str, key: Path | None = None, verdict: Path | None = None) -> int:
    place = case.verdict.parent
    command = ["export", "hub", str(case.run), "--from", str(case.model), "--verdict", str(verdict or case.verdict)]
    return main([*command, "--key", str(key or place / "auditor.pub.pem"), "--out", str(out), *more])


def delivered(case: Case, folder: Path, *more: str) -> int:
    """What ``verify-weights`` says, with the verdict and the key that lie in the folder."""
    given = ["--verdict", str(folder / "verdict.json"), "--key", str(folder / "auditor.pub.pem")]
    return main(["verify-weights", str(folder), str(case.run), *given, *more])


def loaded(kind: Any, folder: Path) -> Any:
    """The model as from_pretrained gives it: nothing missing, nothing left over, in the dtype that the folder says."""
    model, info = kind.from_pretrained(str(folder), local_files_only=True, output_loading_info=True)
    assert not any(info[name] for name in ("missing_keys", "unexpected_keys", "mismatched_keys")), info
    return model


def same_bits(model: nn.Module, state: Mapping[str, torch.Tensor], prefix: str = "") -> int:
    """Check every tensor of a loaded model against a run's state; returns how many there are."""
    with torch.no_grad():
        found = model.state_dict()
        for name, tensor in found.items():
            second = {"lm_head.weight": "transformer.wte.weight"}.get(name, name)
            of = state[prefix + (name if prefix + name in state else second)]
            assert tensor.dtype == of.dtype, name
            assert torch.equal(tensor, of), name
    return len(found)


def test_transformers_loads_the_final_state(gpt2: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "hub"
    assert exported(gpt2, out) == 0
    printed = capsys.readouterr().out
    assert "DELIVERED" in printed
    assert printed.endswith(f"Wrote {out}. To publish it with your own tool:\nhf upload YOUR-NAME/hub {out} .\n")
    assert {path.name for path in out.iterdir()} == {
        "README.md", "config.json", "generation_config.json", "model.safetensors", "tokenizer.json",
        "tokenizer_config.json", "verdict.json", "auditor.pub.pem", "trainer.pub.pem",
    }  # fmt: skip
    assert same_bits(loaded(transformers.AutoModelForCausalLM, out), gpt2.state()) == 17
    # A control: the run changed every one of the trained matrices.
    before = transformers.AutoModelForCausalLM.from_pretrained(str(gpt2.model))
    with pytest.raises(AssertionError):
        same_bits(before, gpt2.state())
    words = transformers.AutoTokenizer.from_pretrained(str(out))
    assert words.decode(words("the auditor replays")["input_ids"]) == "the auditor replays"
    for name in ("tokenizer.json", "tokenizer_config.json", "generation_config.json", "config.json"):
        assert (out / name).read_bytes() == (gpt2.model / name).read_bytes(), name
    assert (out / "verdict.json").read_bytes() == gpt2.verdict.read_bytes()
    assert (out / "trainer.pub.pem").read_bytes() == (gpt2.run.parent / "trainer.pub.pem").read_bytes()


def test_what_is_written_passes_verify_weights_and_one_flipped_bit_does_not(gpt2: Case, tmp_path: Path) -> None:
    assert exported(gpt2, tmp_path / "hub") == 0
    assert delivered(gpt2, tmp_path / "hub") == 0
    weights = tmp_path / "hub" / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    assert delivered(gpt2, tmp_path / "hub") == 1


def test_the_card_of_a_verified_run(gpt2: Case, tmp_path: Path) -> None:
    assert exported(gpt2, tmp_path / "hub") == 0
    card = (tmp_path / "hub" / "README.md").read_text()
    assert card.startswith('---\nlibrary_name: "transformers"\n---\n\n# GPT2LMHeadModel from gpt2 on texts')
    assert "## Verified training" in card
    assert "**DELIVERED**: The weights are the final state of the verified run, after step 2" in card
    for digest in (gpt2.report.order_digest, gpt2.report.run_root):
        assert str(digest) in card
    for path in (tmp_path / "hub").iterdir():
        if path.name != "README.md":
            assert f"| `{path.name}` |" in card
            assert sha256(path.read_bytes()).hexdigest() in card
    assert "| `tokenizer.json` | the model's folder; the order names the same file |" in card
    assert "| `generation_config.json` | the model's folder |" in card
    made_from = card.partition("## Made from")[2]
    assert sha256((gpt2.model / "model.safetensors").read_bytes()).hexdigest() in made_from
    assert "checked by nobody" in card


@pytest.mark.parametrize("kind", ["sample", "no end", "stopped"])
def test_a_card_says_no_more_than_was_checked(kind: str, gpt2: Case, place: Path, tmp_path: Path) -> None:
    segments = {"sample": SegmentRequest(numbers=(2,)), "no end": SegmentRequest(numbers=(1,))}.get(kind)
    if segments is not None:
        report = audited(gpt2.run, segments=segments).report
    else:
        report = replace(
            gpt2.report, outcome=Outcome.INCONCLUSIVE, reason="Stopped.", steps_replayed=1,
            checks=checks(COVERAGE=CheckState.FAILED),
        )  # fmt: skip
    assert exported(gpt2, tmp_path / "hub", verdict=signed(place, report, kind)) == 0
    card = (tmp_path / "hub" / "README.md").read_text()
    assert "## Verified training" not in card
    said = {
        "sample": ["## Training verified in part", "VERIFIED for 1 of 2 segments", "**DELIVERED**", "about a sample"],
        "no end": ["## Training verified in part", "**INCONCLUSIVE**", "nobody replayed the segment that ends in it"],
        "stopped": ["## Training that was not verified", "the verdict on it says INCONCLUSIVE"],
    }[kind]
    for words in said:
        assert words in card
    assert ("**DELIVERED**" in card) == (kind == "sample")
    assert ("**No verdict says that they are those of a verified training**" in card) == (kind != "sample")


def test_a_verdict_that_is_not_on_this_run_is_refused(
    gpt2: Case, classifier: Case, place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(**given: Any) -> str:
        assert exported(gpt2, tmp_path / "hub", **given) == 3
        assert not list(tmp_path.glob("*hub*"))
        return capsys.readouterr().err

    assert "about another run" in refused(verdict=classifier.verdict)
    trainer = test_key(gpt2.run.parent)
    own = signed(place, gpt2.report, "own", trainer)
    assert "is no audit" in refused(verdict=own, key=gpt2.run.parent / "trainer.pub.pem")
    assert "does not hold" in refused(key=gpt2.run.parent / "trainer.pub.pem")
    unsigned = place / "unsigned.cfoil"
    unsigned.write_bytes(gpt2.run.read_bytes())
    replace_bytes(unsigned, "/run/claim", b"{}")
    report = audited(unsigned).report
    assert (report.outcome, report.run_root) == (Outcome.REFUSED, None)
    assert "names no run" in refused(verdict=signed(place, report, "unread"))


def test_a_run_whose_state_is_damaged_leaves_nothing_behind(
    gpt2: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = tmp_path / "damaged.cfoil"
    damaged.write_bytes(gpt2.run.read_bytes())
    with opened_for_change(damaged) as file:
        file[f"{checkpoint_path(2)}/transformer.wte.weight"][0, 0] += 1
    assert exported(replace(gpt2, run=damaged), tmp_path / "hub") == 3
    assert "differs from the state root" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["damaged.cfoil"]


def test_a_head_of_its_own(classifier: Case, tmp_path: Path) -> None:
    """The folder's configuration is of a language model: the class, the labels and the padding are the run's."""
    assert exported(classifier, tmp_path / "hub") == 0
    model = loaded(transformers.AutoModelForSequenceClassification, tmp_path / "hub")
    assert type(model).__name__ == "GPT2ForSequenceClassification"
    assert same_bits(model, classifier.state()) == 17
    assert (model.config.num_labels, model.config.pad_token_id) == (3, 0)
    config = json.loads((tmp_path / "hub" / "config.json").read_text())
    assert config["architectures"] == ["GPT2ForSequenceClassification"]
    words = transformers.AutoTokenizer.from_pretrained(str(tmp_path / "hub"))
    words.pad_token = words.eos_token
    batch = words(["the auditor", "nobody trusts a loss"], padding=True, return_tensors="pt")
    assert model(**batch).logits.shape == (2, 3)
    assert "it has 3 labels" in (tmp_path / "hub" / "README.md").read_text()
    assert delivered(classifier, tmp_path / "hub") == 0


@pytest.mark.slow
def test_several_files_of_a_model_that_was_kept_in_bfloat16(place: Path, tmp_path: Path) -> None:
    model = small_models.llama(place / "models" / "llama")
    draft = order_huggingface(model, rows(place, "texts", TEXTS), replace(QUICK, steps=1))
    case = judged(place, "llama", model, draft)
    out = tmp_path / "hub"
    assert exported(case, out) == 0
    assert (out / "model.safetensors").is_file()
    same_bits(loaded(transformers.AutoModelForCausalLM, out), case.state())
    assert json.loads((out / "config.json").read_text())["dtype"] == "float32"
    shared = tmp_path / "shards"
    *_, written = write_folder(case.run, read_source(model), _checked(case), shared, Wanted(most_bytes=12_000))
    assert isinstance(written, Written)
    assert len(list(shared.glob("model-0000?-of-00003.safetensors"))) == 3
    same_bits(loaded(transformers.AutoModelForCausalLM, shared), case.state())
    assert delivered(case, shared) == 0
    (shared / "model-00002-of-00003.safetensors").unlink()
    assert delivered(case, shared) != 0


def _checked(case: Case) -> Judgement:
    return read_judgement(case.verdict, NO_TRUST, [load_public_key(case.verdict.parent / "auditor.pub.pem")])


def test_a_disputed_run_is_called_so(classifier: Case, place: Path, tmp_path: Path) -> None:
    order = classifier.run.parent / "job.cfoil"
    bad = record_run(order, tmp_path / "bad.cfoil", test_key(classifier.run.parent), tamper=LabelFlip(2, classes=3))
    report = audited(bad, order).report
    assert report.outcome is Outcome.DISPUTED
    case = replace(classifier, run=bad, verdict=signed(place, report, "disputed"))
    assert exported(case, tmp_path / "hub") == 0
    card = (tmp_path / "hub" / "README.md").read_text()
    assert "## Disputed training" in card
    assert "the verdict on it says DISPUTED" in card
    assert "VERIFIED" not in card
    assert "DELIVERED" not in card
    # The honest run's verdict does not make it better.
    assert exported(case, tmp_path / "other", verdict=classifier.verdict) == 3


class Wrapped(nn.Module):
    """A client's module that holds the model."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.policy = model

    def forward(self, tokens: torch.Tensor) -> Any:
        return self.policy(input_ids=tokens, labels=tokens).loss


@pytest.mark.slow
def test_a_model_within_a_clients_module(place: Path, tmp_path: Path) -> None:
    folder = small_models.gpt2(place / "models" / "wrapped", resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
    model = transformers.AutoModelForCausalLM.from_pretrained(str(folder), use_cache=False).train()
    data = {"tokens": (np.abs(draw((8, 6), 1)) * 300).astype(np.int64)}
    rule = WeightAverage(Sgd(), decay=0.5)
    draft = own_order(Wrapped(model), lambda m, b: m(b["tokens"]), data, steps=1, batch_size=4, rule=rule)
    case = judged(place, "wrapped", folder, draft)
    assert exported(case, tmp_path / "hub") == 0
    same_bits(loaded(transformers.AutoModelForCausalLM, tmp_path / "hub"), case.state(), "policy.")
    assert delivered(case, tmp_path / "hub", "--prefix", "policy.") == 0
    assert "--prefix policy.`" in (tmp_path / "hub" / "README.md").read_text()
    # The average of its weights, where the order asks for one.
    assert exported(case, tmp_path / "average", "--average") == 0
    state = case.state()
    averages = {name.removeprefix("average:"): tensor for name, tensor in state.items() if name.startswith("average:")}
    same_bits(loaded(transformers.AutoModelForCausalLM, tmp_path / "average"), averages, "policy.")
    assert not torch.equal(averages["policy.transformer.wte.weight"], state["policy.transformer.wte.weight"])
    assert delivered(case, tmp_path / "average", "--prefix", "policy.") == 1
    assert delivered(case, tmp_path / "average", "--prefix", "policy.", "--average") == 0
    assert "--prefix policy. --average`" in (tmp_path / "average" / "README.md").read_text()


GPT2 = {"model_type": "gpt2", "vocab_size": 12, "n_positions": 8, "n_embd": 4, "n_layer": 1, "n_head": 2}


def shapes(**changes: Any) -> dict[str, tuple[int, ...]]:
    config = transformers.GPT2Config(**{**GPT2, **changes})
    found = transformers.GPT2LMHeadModel(config).state_dict()
    return {name: tuple(tensor.shape) for name, tensor in found.items()}


def test_a_run_of_more_than_the_model_is_refused() -> None:
    first = {f"policy.{name}": shape for name, shape in shapes().items() if name != "lm_head.weight"}
    tied = {"policy.lm_head.weight": "policy.transformer.wte.weight"}
    assert find_architecture(GPT2, first, tied).prefix == "policy."
    with pytest.raises(DataError, match=r"a GPT2LMHeadModel by config.json: it has 'value.weight' beside them"):
        find_architecture(GPT2, first | {"value.weight": (1, 4)}, tied)
    first.pop("policy.transformer.ln_f.bias")
    with pytest.raises(DataError, match=r"it lacks 'transformer.ln_f.bias'"):
        find_architecture(GPT2, first, tied)


def test_which_names_are_written_of_tied_tensors() -> None:
    both = shapes()
    first = {name: shape for name, shape in both.items() if name != "lm_head.weight"}
    tied = {"lm_head.weight": "transformer.wte.weight"}
    found = find_architecture(GPT2, first, tied)
    assert (found.name, found.tied) == ("GPT2LMHeadModel", tied)
    assert found.names.keys() == first.keys()
    # Of a class that ties nothing the second name is written too; what it would tie, the run must not hold as two.
    untied = {**GPT2, "tie_word_embeddings": False}
    again = find_architecture(untied, first, tied)
    assert again.names["lm_head.weight"] == "transformer.wte.weight"
    assert again.tied == {}
    with pytest.raises(DataError, match="which the run holds as two"):
        find_architecture(GPT2, both, {})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model_type": "own", "auto_map": {"AutoModel": "own.Model"}}, "Code of a model's own is not run"),
        ({"quantization_config": {"quant_method": "gptq"}}, "quantised"),
        ({"vocab_size": 13}, r"has the shape \[13, 4\]"),
        ({"n_layer": 10**9}, "1,000,000,000"),
        ({"activation_function": "no such thing"}, "cannot make a GPT2LMHeadModel"),
        ({"n_head": "two"}, "cannot make a"),
    ],
)
def test_a_configuration_that_is_not_the_runs_is_a_sentence(changes: dict[str, Any], said: str) -> None:
    first = {name: shape for name, shape in shapes().items() if name != "lm_head.weight"}
    with pytest.raises(DataError, match=said):
        find_architecture(GPT2 | changes, first, {"lm_head.weight": "transformer.wte.weight"})


SMALL = {
    "vocab_size": 64, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1, "num_attention_heads": 2,
    "num_key_value_heads": 2, "max_position_embeddings": 32,
}  # fmt: skip
OTHERS: dict[str, dict[str, Any]] = {
    # Layers that use a window, of which the configuration may name more than there are.
    "Qwen2ForCausalLM": SMALL,
    # Experts that are one tensor in the model, and one each in the files that the library writes.
    "MixtralForCausalLM": {**SMALL, "num_local_experts": 4},
    # One embedding under three names.
    "T5ForConditionalGeneration": {
        "vocab_size": 64, "d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 1, "num_heads": 2,
    },
    # Weights that are made of two others.
    "Wav2Vec2ForCTC": {
        "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1, "num_attention_heads": 2, "conv_dim": [8],
        "conv_stride": [2], "conv_kernel": [3], "num_feat_extract_layers": 1, "num_conv_pos_embeddings": 4,
        "num_conv_pos_embedding_groups": 2,
    },
    # Buffers that count.
    "ResNetForImageClassification": {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1]},
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_written_loads_for_other_models_too(name: str, tmp_path: Path) -> None:
    kind = getattr(transformers, name)
    model = kind(kind.config_class(**OTHERS[name]))
    model.save_pretrained(tmp_path / "saved")
    held: dict[int, str] = {}
    run: dict[str, torch.Tensor] = {}
    tied: dict[str, str] = {}
    for key, tensor in model.state_dict(keep_vars=True).items():
        if held.setdefault(id(tensor), key) == key:
            run[key] = tensor.detach()
        else:
            tied[key] = held[id(tensor)]
    config = read_source(tmp_path / "saved").config
    found = find_architecture(config, {key: tuple(tensor.shape) for key, tensor in run.items()}, tied)
    assert (found.name, found.changes) == (name, ())
    (tmp_path / "config.json").write_text(json.dumps(found.config))
    tensors = {key: run[of].contiguous().clone() for key, of in found.names.items()}
    save_file(tensors, tmp_path / "model.safetensors", {"format": "pt"})
    again = loaded(kind, tmp_path).state_dict()
    for key, tensor in model.state_dict().items():
        assert torch.equal(again[key], tensor), key


@pytest.mark.parametrize("task", ["causal", "labels"])
def test_peft_loads_the_adapters(task: str, gpt2: Case, place: Path, tmp_path: Path) -> None:
    peft = pytest.importorskip("peft", reason="the library peft is not installed")
    listed = TEXTS if task == "causal" else LABELLED
    settings = replace(QUICK, lora=Lora(r=2, alpha=5, modules=("c_attn", "c_fc")), learning_rate=0.1)
    draft = order_huggingface(gpt2.model, rows(place, f"lora-{task}", listed), settings)
    case = judged(place, f"lora-{task}", gpt2.model, draft)
    out = tmp_path / "hub"
    assert exported(case, out, "--base", "somebody/model") == 0
    assert not list(out.glob("model*"))
    assert not (out / "config.json").exists()
    config = json.loads((out / "adapter_config.json").read_text())
    assert (config["r"], config["lora_alpha"], config["fan_in_fan_out"]) == (2, 5, True)
    assert config["base_model_name_or_path"] == "somebody/model"
    assert 'base_model: "somebody/model"' in (out / "README.md").read_text()
    kinds = {"causal": transformers.AutoModelForCausalLM, "labels": transformers.AutoModelForSequenceClassification}
    more = {} if task == "causal" else {"num_labels": 3}
    base = kinds[task].from_pretrained(str(case.model), **more)
    model = peft.PeftModel.from_pretrained(base, str(out), local_files_only=True)
    state, seen = case.state(), 0
    for name, tensor in model.state_dict().items():
        if "lora_" in name or "modules_to_save" in name:
            assert torch.equal(tensor, state[name]), name
            seen += 1
    assert seen == (4 if task == "causal" else 5)
    assert {part.scaling["default"] for part in model.modules() if hasattr(part, "lora_A")} == {2.5}
    assert delivered(case, out) == 0
    # A control: the adapters learned something.
    assert any(bool(tensor.any()) for name, tensor in state.items() if "lora_B" in name and ":" not in name)
    weights = out / "adapter_model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    assert delivered(case, out) == 1
