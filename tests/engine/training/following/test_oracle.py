"""The script as its own oracle: what it does is what is ordered, and each way to be something else is refused by name.

The two orders of one script are made once for all; the others are refused before or in their third run.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent

import pytest
import torch
from msgspec import structs

from counterfoil.cli.scripts import write_compared
from counterfoil.signing.comparison import comparison_beside
from counterfoil.training.following.oracle import Oracle, steps_to_compare
from counterfoil.training.following.plainreport import Border, Failure, Request
from counterfoil.training.following.survey import Survey, survey_of
from counterfoil.training.scripts.handover import ScriptOrder
from counterfoil.training.scripts.workfolder import work_folder
from counterfoil.training.stages import COMPARING, FOLLOWING, RUNNING, Preparing
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, DataError, ProgramError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.operators.facts import UNIFORM
from support.followed import ordered, plain, recorded, write_script

_SCRIPT = """
    import os
    import sys
    import torch
    from torch import nn

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 3), nn.Dropout(0.5), nn.Linear(3, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    BEGUN
    for number, x in enumerate(torch.randn(4, 8, 4)):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        AFTER
    ENDED
"""


def text(begun: str = "", after: str = "", ended: str = "") -> str:
    """The script with lines before its training, after each step, and at its end."""
    made = _SCRIPT
    for name, lines in (("BEGUN", begun), ("AFTER", after), ("ENDED", ended)):
        indent = " " * (8 if name == "AFTER" else 4)
        made = made.replace(name, f"\n{indent}".join(dedent(lines).strip().splitlines()) or "pass")
    return made


@dataclass(frozen=True)
class Machine:
    """What a machine made of the script.

    Attributes:
        folder: Where it worked.
        made: Its order.
        told: What it told of its progress.
    """

    folder: Path
    made: ScriptOrder
    told: tuple[Preparing, ...]


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int | None], Machine]:
    """Orders the script with so many steps compared, as a machine of that speed does; each once."""
    found: dict[int | None, Machine] = {}

    def order(compare: int | None) -> Machine:
        if compare not in found:
            folder = tmp_path_factory.mktemp("machine")
            (folder / "rows.txt").write_text("rows")
            script = write_script(folder, text("open('rows.txt').read(); open('log.txt', 'w').write(str(sys.argv))"))
            told: list[Preparing] = []
            with contextlib.chdir(folder):
                made = ordered(script, "--one", compare=compare, tell=told.append)
            found[compare] = Machine(folder, made, tuple(told))
        return found[compare]

    return order


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_script_agrees_with_its_order_in_all_steps(machine: Callable[[int | None], Machine]) -> None:
    found = machine(None)
    compared = found.made.compared
    assert compared is not None
    assert (compared.steps, compared.ordered) == ((1, 2, 3, 4), 4)
    assert compared.arguments == ("--one",)
    # What it read of others, and not what it made itself; nothing of it lies in the folder.
    assert set(compared.files) == {"rows.txt", "train.py"}
    assert not (found.folder / "log.txt").exists()


def test_the_three_stages_are_told_step_by_step(machine: Callable[[int | None], Machine]) -> None:
    told = machine(None).told
    stages = list(dict.fromkeys(event.stage for event in told))
    assert [stage for stage in stages if stage in (RUNNING, FOLLOWING, COMPARING)] == [RUNNING, FOLLOWING, COMPARING]
    counted = {stage: [event.done for event in told if event.stage == stage] for stage in stages}
    assert counted[RUNNING] == [0, 1, 2, 3, 4]
    assert counted[COMPARING] == [1, 2, 3, 4]
    assert {event.total for event in told if event.stage == COMPARING} == {4}


def test_two_machines_of_different_speed_write_one_digest(
    machine: Callable[[int | None], Machine], tmp_path: Path
) -> None:
    fast, slow = machine(None), machine(1)
    assert fast.made.compared is not None
    assert slow.made.compared is not None
    assert slow.made.compared.steps == (1,)
    orders, statements = [], []
    for name, found in (("fast", fast), ("slow", slow)):
        out = tmp_path / f"{name}.cfoil"
        found.made.draft.write(out, trial=False)
        line = write_compared(found.made.compared, found.made.draft.manifest, out, None, force=False)
        assert line.less is (name == "slow")
        orders.append(out)
        statements.append(comparison_beside(out, found.made.draft.manifest.digest, 4))
    assert fast.made.draft.manifest.digest == slow.made.draft.manifest.digest
    assert orders[0].read_bytes() == orders[1].read_bytes()
    of_fast, of_slow = statements
    assert of_fast is not None
    assert of_slow is not None
    assert of_fast.said is not None
    assert of_slow.said is not None
    assert (of_fast.said.compared, of_slow.said.compared) == (((1, 4),), ((1, 1),))
    assert structs.replace(of_fast.said, compared=()) == structs.replace(of_slow.said, compared=())
    with BundleReader.open(orders[0]) as reader:
        assert reader.manifest.digest == of_fast.said.order


# What the oracle knows before anything is executed.


def sequence(machine: Machine, survey: Survey, calls: tuple[tuple[str, ...], ...] | None = None) -> None:
    Oracle(machine.made.draft, survey, calls, {}, lambda _: None).check_sequence()


CALLS = ("clear", "backward", "update 0")


def seen(steps: int, *, whole: bool = True, calls: tuple[str, ...] = CALLS) -> Survey:
    borders = tuple(Border(number, calls=calls if number else ()) for number in range(steps + 1))
    return Survey(borders, end=Border(steps, is_end=True) if whole else None)


def test_the_number_of_steps_is_the_scripts(machine: Callable[[int | None], Machine]) -> None:
    found = machine(None)
    sequence(found, seen(4))
    sequence(found, seen(3, whole=False))
    with pytest.raises(ProgramError, match="The script makes 3 steps, and 4 would be ordered"):
        sequence(found, seen(3))
    with pytest.raises(ProgramError, match="The script makes 5 steps, and 4 would be ordered"):
        sequence(found, seen(5))
    with pytest.raises(ProgramError, match="makes more than the 4 steps that would be ordered"):
        sequence(found, seen(5, whole=False))


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        (
            ("clear", "backward"),
            "3 calls that count, and 2 .* it lets optimizer 1 make its step, the order .* has ended its step",
        ),
        (
            (*CALLS[:2], "update 1"),
            "3 .* 3 would be ordered: where it lets optimizer 1 make its step, .* that lets optimizer 2 make its",
        ),
        (
            ("backward", "clear", "update 0"),
            r"3 .* 3 would be ordered: where it clears gradients, .* that calls backward\(\)",
        ),
        ((*CALLS, "fetch"), "3 .* 4 would be ordered: where it has ended its step, .* that asks a loader for a batch"),
    ],
)
def test_what_is_called_in_a_step_is_the_scripts(
    machine: Callable[[int | None], Machine], calls: tuple[str, ...], said: str
) -> None:
    found = machine(None)
    sequence(found, seen(4), (CALLS,) * 4)
    with pytest.raises(ProgramError, match=f"In step 3 the script makes {said}"):
        sequence(found, seen(4), (CALLS, CALLS, calls, CALLS))


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"early": ("train.py, line 9",)}, ProgramError, "An optimizer makes a step before a model was called"),
        ({"elsewhere": ("train.py, line 9",)}, ProgramError, "Another thread lets an optimizer make its step"),
        (
            {"failure": Failure("ValueError: no", "train.py, line 9", "")},
            DataError,
            r"fails after 4 steps: ValueError: no",
        ),
    ],
)
def test_what_is_no_training_of_an_order_is_refused_with_its_line(
    change: dict[str, object], error: type[Exception], said: str
) -> None:
    survey = seen(4)
    survey.check()
    assert survey.end is not None
    with pytest.raises(error, match=said) as refused:
        replace(survey, end=replace(survey.end, **change)).check()  # type: ignore[arg-type]
    assert "train.py, line 9" in str(refused.value)


def test_the_first_step_of_each_kind_is_compared_whatever_the_time(machine: Callable[[int | None], Machine]) -> None:
    draft = machine(None).made.draft
    assert steps_to_compare(draft, seen(1, whole=False), ()) == (1,)
    assert steps_to_compare(draft, seen(2, whole=False), [0.1, 0.1, 0.1, 0.2]) == (1, 2, 4)
    assert steps_to_compare(draft, seen(9), ()) == (1, 2, 3, 4)
    assert steps_to_compare(draft, seen(0, whole=False), [(0.1,), (0.2,), (0.2,), (0.1,)]) == (1, 2)


# What a script does.


def surveyed(
    script: Path, most_steps: int | None = None, cancel: CancelToken | None = None, place: Path | None = None
) -> Survey:
    with work_folder(place or script.parent) as folder, TemporaryDirectory() as scratch:
        return survey_of(Request(script, (), most_steps), folder, Path(scratch), lambda _: None, cancel)


def test_a_survey_has_the_steps_answers_draws_and_files_of_a_script(here: Path) -> None:
    (here / "best.txt").write_text("of another day")
    asks = "if loss.item() > 1e9:\n    sys.exit()\nopen('best.txt', 'w').write(str(float(loss)))"
    script = write_script(here, text("open('best.txt').read()", asks))
    survey = surveyed(script)
    assert survey.is_whole
    assert survey.steps == 4
    assert [border.number for border in survey.borders] == [0, 1, 2, 3, 4]
    second = survey.borders[2]
    assert second.calls == CALLS
    (update,) = second.updates
    assert (update.optimizer, update.rates) == (0, (0.1,))
    assert len(second.losses) == 1
    # Its dropout alone is drawn for a model; each time from where the generators are then.
    assert [kind for kind, _, _ in second.drawn] == [UNIFORM]
    assert second.generators_now["torch"] != survey.borders[1].generators_now["torch"]
    assert second.generators_now["numpy"] == survey.generators["numpy"]
    assert len({border.digest for border in survey.borders}) == 5
    line = 1 + next(n for n, row in enumerate(script.read_text().splitlines()) if "loss.item()" in row)
    assert (f"train.py, line {line}", pytest.approx(second.losses[0])) in second.answers
    # An earlier run left what it reads and writes.
    assert survey.files.reads == {"train.py": 0, "best.txt": 0}
    assert survey.files.writes["best.txt"] == 1
    assert survey.files.stale == ("best.txt",)
    with pytest.raises(DataError, match=r"The script reads best\.txt, which was there before, and writes"):
        survey.check()
    assert (here / "best.txt").read_text() == "of another day"


def test_a_script_that_is_named_from_the_folder_one_is_in_runs_in_its_copy_by_its_whole_name(here: Path) -> None:
    shown = "__file__ == sys.argv[0], __file__ == os.path.join(os.getcwd(), 'train.py')"
    survey = surveyed(write_script(here, f"import os, sys\nraise RuntimeError({shown})").relative_to(here), place=here)
    assert survey.end is not None
    assert survey.end.failure is not None
    assert survey.end.failure.sentence == "RuntimeError: (True, True)"
    assert survey.end.failure.place == "train.py, line 2"


def test_a_survey_ends_after_so_many_steps_and_where_it_is_stopped(here: Path) -> None:
    script = write_script(here, text(ended="raise RuntimeError('beyond what is looked at')"))
    survey = surveyed(script, most_steps=2)
    assert (survey.steps, survey.is_whole) == (2, False)
    survey.check()
    token = CancelToken()
    token.cancel()
    with pytest.raises(CancelledError):
        surveyed(script, cancel=token)


# Refusals of whole orders.


def refusal(here: Path, script: str) -> ProgramError | DataError:
    with pytest.raises((ProgramError, DataError)) as refused:
        ordered(write_script(here, script))
    assert refused.value.remedy
    return refused.value


def test_a_script_that_fails_by_itself_is_refused_with_its_line_before_it_is_followed(here: Path) -> None:
    error = refusal(here, text(after="[1, 2, 3][number + 1]"))
    assert "The script by itself fails after 3 steps: IndexError: list index out of range" in error.sentence
    assert "train.py, line" in error.sentence
    assert "--max-steps 3" in error.remedy


def test_a_script_that_does_not_the_same_twice_is_refused(here: Path) -> None:
    begun = "import numpy as np\nnoise = np.random.default_rng()"
    drawn = "with torch.no_grad():\n    model[0].bias += float(noise.normal())"
    error = refusal(here, text(begun, drawn))
    assert "The script does not do the same twice: in step" in error.sentence
    assert "Seed what draws" in error.remedy


def test_weights_that_are_put_back_in_the_end_are_what_the_order_ends_with(here: Path) -> None:
    kept = "if number == 1:\n    best = copy.deepcopy(model.state_dict())"
    put_back = "last = model[0].weight.detach().clone()\nmodel.load_state_dict(best)"
    steady = text("import copy", kept, put_back).replace("nn.Dropout(0.5)", "nn.Identity()")
    script = write_script(here, steady)
    own = plain(script)
    best, last = own.names["best"]["0.weight"], own.names["last"]
    assert float((best - last).abs().max()) > 1e-2
    made = ordered(script)
    assert made.compared is not None
    assert made.compared.steps == (1, 2, 3, 4)
    torch.testing.assert_close(recorded(made.draft, here).state["0.weight"], best, atol=1e-5, rtol=0)


def test_nothing_is_compared_where_nothing_is_wanted(here: Path) -> None:
    # It ran once, in this process, and what it asks of values nobody has seen.
    made = ordered(write_script(here, text(after="if loss.item() > 1e9:\n    break")), compare=0, answers={"": False})
    assert made.compared is None
    assert made.draft.manifest.steps == 4
    assert any("answered no from step 1 on, as you said" in note for note in made.notes)
