"""A folder of a model, or a client's module, that makes the libraries build without end, panic, or ask for packages."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from counterfoil.base.foreignerrors import describe_error, text_of, theirs
from counterfoil.cli import main
from counterfoil.training.huggingface import FineTuning, Task, order, order_huggingface
from counterfoil.training.jobnames import load_job
from counterfoil_core.base.errors import CounterfoilError, DataError
from support import small_models

QUICK = FineTuning(steps=2, batch_size=2, checkpoint_every=2)
ROWS = [{"prompt": text, "completion": " replays"} for text in small_models.SENTENCES]
LABELLED = [{"text": text, "label": number % 2} for number, text in enumerate(small_models.SENTENCES)]


class Panic(BaseException):
    """As pyo3's PanicException: no ``Exception``."""


class MuteError(Exception):
    """Whose text cannot be made."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("transformers", reason="the library transformers is not installed")
    return small_models.gpt2(tmp_path_factory.mktemp("models") / "gpt2")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "train.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


@pytest.fixture
def changed(gpt2: Path, tmp_path: Path) -> Callable[..., Path]:
    """Copies the folder, and changes a JSON file of it."""

    def change(file: str = "config.json", **changes: Any) -> Path:
        folder = Path(shutil.copytree(gpt2, tmp_path / "hostile"))
        path = folder / file
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))
        return folder

    return change


def refused(folder: Path, data: Path, settings: FineTuning = QUICK) -> DataError:
    begun = time.monotonic()
    with pytest.raises(DataError) as caught:
        order_huggingface(folder, data, settings)
    assert time.monotonic() - begun < 30
    assert caught.value.remedy
    return caught.value


# Sizes.


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"n_layer": 10**9}, "n_layer"),
        ({"n_layer": 17}, "n_layer"),
        ({"n_layer": 1e9}, "n_layer"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers"),
        ({"n_embd": 10**9}, "n_embd"),
        ({"n_embd": -(10**9)}, "n_embd"),
        ({"vocab_size": 10**12}, "vocab_size"),
        ({"n_inner": 2**40}, "n_inner"),
        ({"n_head": 10**9}, "n_head"),
        ({"n_positions": 10**10}, "n_positions"),
        ({"num_labels": 10**9}, "num_labels"),
        ({"depths": [2, 2, 10**9]}, "depths"),
        ({"text_config": {"num_experts": 10**9}}, "num_experts"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_sizes_are_bounded_by_the_weights_before_anything_is_built(
    changes: dict[str, Any], name: str, changed: Callable[..., Path], data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def built(*_: object) -> None:
        raise AssertionError("it was built")

    monkeypatch.setattr(order, "load_config", built)
    said = refused(changed(**changes), data).sentence
    assert f"config.json says {name!r}" in said
    assert "its weights, 16 tensors" in said


@pytest.mark.parametrize(
    "changes",
    [{"n_layer": 10**400}, {"vocab_size": None}, {"n_embd": "16"}, {"n_head": 0}, {"n_embd": 3}],
    ids=["huge", "none", "text", "zero", "indivisible"],
)
def test_sizes_that_are_none_end_in_a_sentence(
    changes: dict[str, Any], changed: Callable[..., Path], data: Path
) -> None:
    refused(changed(**changes), data)


@pytest.mark.slow
def test_what_is_no_size_is_left_alone(changed: Callable[..., Path], data: Path) -> None:
    """The control: names that hold large numbers in honest folders, and the same folder otherwise as it was."""
    folder = changed(rope_theta=10**9, model_max_length=10**30, some_token_id=10**9, rope_parameters={"base": 10**12})
    order_huggingface(folder, data, QUICK)


# What libraries raise.


@pytest.mark.parametrize("raised", [Panic("stride must be less"), SystemExit(3), MuteError(), MemoryError()], ids=repr)
@pytest.mark.parametrize("place", ["loading", "tokenising"])
def test_a_panic_of_a_library_is_a_sentence(
    place: str, raised: BaseException, gpt2: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise raised

    if place == "loading":
        monkeypatch.setattr("transformers.AutoTokenizer.from_pretrained", fail)
    else:
        monkeypatch.setattr("transformers.PreTrainedTokenizerFast.__call__", fail)
    said = refused(gpt2, data)
    assert "cannot load the tokenizer" in said.sentence
    assert type(raised).__name__ in said.sentence


def test_a_real_panic(changed: Callable[..., Path], data: Path, tmp_path: Path) -> None:
    """Of tokenizers 0.23: a stride that leaves no room."""
    import tokenizers

    cut = {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 5}
    folder = changed("tokenizer.json", truncation=cut)
    text = (folder / "tokenizer.json").read_text()
    with pytest.raises(BaseException, match="stride") as caught:
        tokenizers.Tokenizer.from_str(text).encode("the auditor replays what the trainer did")
    assert not isinstance(caught.value, Exception), "the control: it is no Exception"
    labelled = tmp_path / "labelled.jsonl"
    labelled.write_text("".join(json.dumps(row) + "\n" for row in LABELLED), encoding="utf-8")
    for file, settings in ((data, QUICK), (labelled, FineTuning(task=Task.CLASSIFICATION, steps=2, batch_size=2))):
        with suppress(DataError):
            order_huggingface(folder, file, settings)


@pytest.mark.parametrize(
    "raised",
    [
        ImportError("This needs `pip install evil-kernels`"),
        ModuleNotFoundError("No module named 'evil'", name="evil"),
        ValueError("Please install evil: pip install evil"),
    ],
    ids=repr,
)
def test_nobody_is_told_to_install_what_a_folder_names(
    raised: Exception, gpt2: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.setattr("transformers.AutoModelForCausalLM.from_pretrained", fail)
    said = refused(gpt2, data)
    assert "evil" not in f"{said.sentence} {said.remedy}"
    assert "pip install" not in f"{said.sentence} {said.remedy}"
    assert "loads no package that a folder asks for" in said.remedy


# A client's own module.


@pytest.mark.parametrize(
    "code",
    [
        "class P(BaseException): pass\nraise P('at import')",
        "class P(BaseException): pass\ndef make(): raise P('in make')",
        "class M(Exception):\n    def __str__(self): raise ValueError\ndef make(): raise M",
        "class M(Exception):\n    def __str__(self): return 3\nraise M",
        "class M(BaseException):\n    def __str__(self): raise ValueError\ndef make(): raise M",
        "def make(): raise SystemExit(0)",
        "import threading\ndef make(): raise BaseExceptionGroup('both', [SystemExit(1), ValueError()])",
    ],
)
def test_whatever_a_module_raises_is_a_sentence(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"client_{abs(hash(code))}"
    (tmp_path / f"{name}.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError) as caught:
        load_job(f"{name}:make")
    assert f"{name}.py, line" in caught.value.sentence
    assert main(["order", "--from", f"{name}:make", "--out", str(tmp_path / "o.cfoil")]) == 4
    said = capsys.readouterr().err
    assert "This is a bug" not in said
    assert "Traceback" not in said
    assert not (tmp_path / "o.cfoil").exists()


def test_ctrl_c_in_a_module_stops_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "interrupted.py").write_text("def make(): raise KeyboardInterrupt")
    monkeypatch.chdir(tmp_path)
    assert main(["order", "--from", "interrupted:make", "--out", str(tmp_path / "o.cfoil")]) == 2
    assert "Stopped" in capsys.readouterr().err


def test_words_for_what_was_raised() -> None:
    assert describe_error(ValueError("one\ntwo")) == "ValueError: one"
    assert describe_error(KeyError()) == "KeyError"
    assert text_of(MuteError()) == "a MuteError that cannot be shown"
    assert describe_error(MuteError()) == "MuteError: a MuteError that cannot be shown"
    with pytest.raises(KeyboardInterrupt):
        theirs(KeyboardInterrupt())
    assert not isinstance(theirs(Panic()), CounterfoilError)
