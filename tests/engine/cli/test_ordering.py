"""Orders that a program has written: what can be chosen is what the command has, and what comes out is its order."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from counterfoil import (
    CancelToken,
    CommandForm,
    CommandProgress,
    OrderError,
    OrderWritten,
    inspect,
    make_order,
    order_command,
    order_forms,
    record,
)
from counterfoil.cli import main
from counterfoil.cli.commandforms import OWN, SCORING, SCRIPT
from counterfoil.cli.orderprogram import failure_of, option_of
from counterfoil.signing.comparison import comparison_beside
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CancelledError, DataError
from counterfoil_core.signing.keys import SigningKey
from support.job_fixtures import once, trainer_key

__all__ = ["once", "trainer_key"]

SMALL = {"steps": "2", "batch_size": "4", "checkpoint_every": "2"}
SCRIPT_TEXT = """
import torch
import sys

torch.manual_seed(int(sys.argv[1]))
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
rows = torch.utils.data.TensorDataset(torch.arange(24.0).reshape(8, 3) / 24, torch.ones(8, 1))
for batch, wanted in torch.utils.data.DataLoader(rows, batch_size=4):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(batch), wanted)
    loss.backward()
    optimizer.step()
"""


def form(name: str) -> CommandForm:
    return next(each for each in order_forms() if each.name == name)


def written(arguments: Sequence[str], folder: Path | None = None) -> OrderWritten:
    *before, last = make_order(arguments, folder, CancelToken())
    assert isinstance(last, OrderWritten)
    assert all(isinstance(each, CommandProgress) for each in before)
    return last


def by_command(line: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Carry a command line out in this process, and return the digest of what it writes."""
    if line.startswith("cd "):
        change, _, line = line.partition(" && ")
        monkeypatch.chdir(shlex.split(change)[1])
    program, *arguments = shlex.split(line)
    assert program == "counterfoil"
    assert main(arguments) == 0
    summary = inspect(Path(arguments[arguments.index("--out") + 1]))
    return summary.order.digest.hex


DIGITS = {**SMALL, "width": "2", "seed": "7"}


def test_the_command_that_is_shown_writes_the_same_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {**SMALL, "rows": "64", "features": "4", "learning_rate": "0.25"}
    told = written(form("logistic").arguments({**values, "out": str(tmp_path / "told.cfoil")}))
    line = order_command(form("logistic").arguments({**values, "out": str(tmp_path / "typed.cfoil")}))
    assert by_command(line, monkeypatch) == told.digest == inspect(tmp_path / "told.cfoil").order.digest.hex
    assert told.steps == 2
    assert told.batch_size == 4
    assert told.order_bytes == (tmp_path / "told.cfoil").stat().st_size


SCORING_TEXT = """
import sys, torch

torch.manual_seed(int(sys.argv[1]))
model = torch.nn.Linear(3, 2)
rows = torch.utils.data.TensorDataset(torch.arange(24.0).reshape(8, 3) / 24, torch.arange(8) % 2)
hits = seen = 0
with torch.no_grad():
    for batch, wanted in torch.utils.data.DataLoader(rows, batch_size=4):
        hits += (model(batch).argmax(1) == wanted).sum().item()
        seen += len(wanted)
"""


@pytest.mark.own_process
def test_an_evaluation_script_is_ordered_in_its_folder_with_its_arguments(tmp_path: Path) -> None:
    script = tmp_path / "score it.py"
    script.write_text(SCORING_TEXT)
    asked = {"script": str(script), "arguments": "5", "counts": "counted=seen,correct=hits"}
    arguments = form(SCORING).arguments({**asked, "out": str(tmp_path / "score.cfoil")})
    assert arguments[0] == "evaluate"
    assert arguments[-2:] == ("--", "5")
    told = written(arguments, tmp_path)
    assert told.steps == 2
    assert "Compared with the script in all 2 steps." in told.notes
    with pytest.raises(OrderError, match="hit") as refused:
        written(form(SCORING).arguments({**asked, "counts": "correct=hit", "out": str(tmp_path / "x.cfoil")}), tmp_path)
    assert refused.value.option == "counts"


@pytest.mark.slow
@pytest.mark.own_process
def test_a_script_is_ordered_in_its_folder_with_its_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "train it.py").write_text(SCRIPT_TEXT)
    asked = {"compare": "1", "answer": "no train.py:3=yes", "network": "no"}
    values = {"script": str(tmp_path / "train it.py"), "arguments": "5", **asked}
    told = written(form(SCRIPT).arguments({**values, "out": str(tmp_path / "told.cfoil")}), tmp_path)
    line = order_command(form(SCRIPT).arguments({**values, "out": str(tmp_path / "typed.cfoil")}), str(tmp_path))
    assert line.endswith(" -- 5")
    assert "--compare 1 --answer no --answer train.py:3=yes --no-network" in line
    # When the order was told of, it was beside it.
    told_comparison = comparison_beside(tmp_path / "told.cfoil", Digest.from_hex(told.digest), 2)
    assert by_command(line, monkeypatch) == told.digest
    assert told.steps == 2
    typed_comparison = comparison_beside(tmp_path / "typed.cfoil", Digest.from_hex(told.digest), 2)
    assert told_comparison is not None
    assert typed_comparison is not None
    assert told_comparison.said is not None
    assert told_comparison.said.compared == ((1, 1),)
    assert told_comparison.said == typed_comparison.said
    assert "Compared with the script in step 1 of 2." in told.warnings


def test_the_run_is_as_large_as_expected(tmp_path: Path, trainer_key: SigningKey) -> None:
    values = {**DIGITS, "steps": "6", "out": str(tmp_path / "job.cfoil")}
    told = written(form("digits-cnn").arguments(values))
    expected = told.expected
    assert expected.log_bytes is not None
    assert expected.seconds == pytest.approx(6 * (expected.first_seconds or 0))
    for _ in record(tmp_path / "job.cfoil", tmp_path / "run.cfoil", trainer_key):
        pass
    found = (tmp_path / "run.cfoil").stat().st_size
    structure = (tmp_path / "job.cfoil").stat().st_size  # of an HDF5 file, which nobody estimates
    assert expected.run_bytes < found < expected.run_bytes + 3 * expected.log_bytes + structure


WRONG = {
    "a number that is none": ({"steps": "many"}, "steps"),
    "too small a number": ({"steps": "0"}, "steps"),
    "two that do not fit": ({"commit_every": "3", "checkpoint_every": "4"}, "checkpoint_every"),
    "a batch that is larger than the data": ({"batch_size": "4000"}, "batch_size"),
    "a folder that is not there": ({"out": "/no/such/folder/job.cfoil"}, "out"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_names_its_option_and_nothing_is_written(case: str, tmp_path: Path) -> None:
    values, option = WRONG[case]
    arguments = form("digits-cnn").arguments({**SMALL, "out": str(tmp_path / "job.cfoil"), **values})
    with pytest.raises(OrderError) as raised:
        written(arguments)
    assert raised.value.option == option
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_data_is_named(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(OrderError, match="holds no images") as raised:
        written(form("resnet").arguments({**SMALL, "data": str(empty), "out": str(tmp_path / "job.cfoil")}))
    assert raised.value.option == "data"
    assert raised.value.remedy


def test_a_module_that_is_not_there_is_named(tmp_path: Path) -> None:
    arguments = form(OWN).arguments({"source": "nowhere:make", "out": str(tmp_path / "job.cfoil")})
    with pytest.raises(OrderError, match="no module") as raised:
        written(arguments, tmp_path)
    assert raised.value.option == "source"


def test_what_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    token = CancelToken()
    arguments = form("digits-cnn").arguments({"out": str(tmp_path / "job.cfoil")})
    events = make_order(arguments, None, token)
    assert isinstance(next(events), CommandProgress)
    token.cancel()
    with pytest.raises(CancelledError):
        list(events)
    assert list(tmp_path.iterdir()) == []


def test_code_that_ends_its_process_is_told(tmp_path: Path) -> None:
    (tmp_path / "dies.py").write_text("import os\ndef make():\n    os._exit(7)\n")
    arguments = form(OWN).arguments({"source": "dies:make", "out": str(tmp_path / "job.cfoil")})
    with pytest.raises(Exception, match="ended with code 7"):
        written(arguments, tmp_path)


@pytest.mark.slow
def test_code_that_prints_does_not_disturb(tmp_path: Path) -> None:
    script = tmp_path / "loud.py"
    script.write_text(f"print('x' * 9999)\nimport os\nos.write(1, b'y' * 999)\n{SCRIPT_TEXT}")
    values = {"script": str(script), "arguments": "5", "second_look": "no", "out": str(tmp_path / "job.cfoil")}
    assert written(form(SCRIPT).arguments(values), tmp_path).steps == 2


def test_every_option_of_the_commands_can_be_chosen() -> None:
    from typer.main import get_command

    from counterfoil.cli.app import app

    group = get_command(app).get_command(None, "order").loaded  # type: ignore[attr-defined,arg-type]
    of_trainings = {"recompute_activations", "stop_early_patience", "stop_early_fall"}
    for each in order_forms():
        command = group.commands[each.words[0]] if each.words else group
        flags = {flag for parameter in command.params for flag in (*parameter.opts, *parameter.secondary_opts)}
        for option in each.options:
            assert {flag for flag in (option.flag, option.off) if flag} <= flags, (each.name, option.name)
        if not each.own_code:
            names = {parameter.name for parameter in command.params} - {"help"}
            if each.name == "evaluate":  # one command with two forms, and nothing of it learns
                names -= {"script", "counts", "compare"} | of_trainings
            assert names == {option.name for option in each.options}
    assert {"script", "counts", "compare", "arguments"} <= {option.name for option in form(SCORING).options}
    assert not {"data", "folder", *of_trainings} & {option.name for option in form(SCORING).options}


def test_defaults_and_empty_values_are_left_to_the_command() -> None:
    values = {"out": "a.cfoil", "steps": "60", "batch_size": " ", "seed": "3", "precision": "float64-24"}
    assert form("digits-cnn").arguments(values) == ("digits-cnn", "--out", "a.cfoil", "--seed", "3")


def test_switches_are_written_in_the_form_that_changes_something() -> None:
    found = form("resnet").arguments({"flip": "no", "trial": "no"})
    assert found == ("resnet", "--no-flip", "--no-trial")
    assert form("hf").arguments({"pack": "yes", "folder": "m"}) == ("hf", "m", "--pack")


def test_arguments_of_a_script_that_cannot_be_divided_are_refused() -> None:
    with pytest.raises(DataError, match="quotation mark"):
        form(SCRIPT).arguments({"script": "a.py", "arguments": "'open"})


@pytest.mark.skipif(sys.platform == "win32", reason="quoted otherwise")
def test_the_command_quotes_what_a_shell_would_take_apart() -> None:
    assert order_command(["gpt2", "--text", "my book.txt"], "/a b") == (
        "cd '/a b' && counterfoil order gpt2 --text 'my book.txt'"
    )


def test_the_longest_path_that_a_sentence_quotes_is_what_it_is_about() -> None:
    arguments = ["hf", "--out", "/d/x.cfoil", "/d/model", "--data", "/d/model/train.jsonl"]
    assert option_of("The file /d/model/train.jsonl is damaged.", form("hf"), arguments) == "data"
    assert option_of("The folder /d/model has no config.json.", form("hf"), arguments) == "folder"
    assert option_of("Nothing is quoted here.", form("hf"), arguments) == ""


def test_what_nobody_expects_is_told_with_its_traceback() -> None:
    try:
        raise ZeroDivisionError("by zero")
    except ZeroDivisionError as error:
        failed = failure_of(error, form("digits-cnn"), ["digits-cnn"])
    assert isinstance(failed, OrderError)
    assert "by zero" in failed.sentence
    assert "test_what_nobody_expects" in failed.detail


def test_the_forms_are_read_without_torch() -> None:
    import subprocess

    code = "import sys, counterfoil; counterfoil.order_forms(); sys.exit('torch' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0
