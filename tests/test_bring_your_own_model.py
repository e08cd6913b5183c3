"""Runs what docs/bring-your-own-model.md shows, and records and replays its orders; reads tables of docs/jobs.md."""

from __future__ import annotations

import doctest
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import counterfoil
from counterfoil.cli import main
from counterfoil.program import update
from counterfoil.program.update import torchs
from counterfoil.training.custom import CustomJob
from counterfoil_core.values.outcome import Outcome
from support.bundles import test_key
from support.jobs import audited, record_run

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "bring-your-own-model.md").read_text(encoding="utf-8")
JOBS = (DOCS / "jobs.md").read_text(encoding="utf-8")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def commands() -> list[tuple[list[str], str]]:
    """The arguments of each command line, and what it is said to print."""
    lines = [block.removeprefix("$ counterfoil ").partition("\n") for block in blocks("console")]
    return [(shlex.split(command), output) for command, _, output in lines]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with the page's modules as files."""
    names = []
    for block in blocks("python"):
        name = block.partition("\n")[0].removeprefix("# ")
        (tmp_path / name).write_text(block, encoding="utf-8")
        names.append(name.removesuffix(".py"))
    assert names == ["vit_job", "bert_job", "gan_job"]
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in names:
        sys.modules.pop(name, None)


@pytest.mark.slow
@pytest.mark.sampled(1)
@pytest.mark.parametrize("number", [0, 1, 2], ids=["vision transformer", "BERT-like encoder", "two networks"])
def test_the_page_does_what_it_says(number: int, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, expected = commands()[number]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert doctest.OutputChecker().check_output(expected, printed, FLAGS), printed

    order = folder / arguments[-1]
    first = order.read_bytes()
    sys.modules.pop(arguments[2].partition(":")[0])
    assert main([*arguments, "--force"]) == 0
    assert order.read_bytes() == first

    run = record_run(order, folder / "run.cfoil", test_key(folder))
    report = audited(run, order, perturbation="reversed").report
    assert report.outcome is Outcome.VERIFIED, report.reason
    assert (report.steps_replayed, report.contradictions, report.omissions) == (3, 0, 0)


# The vision transformer has BERT's operators and one convolution, which test_exact_recipes.py records.
@pytest.mark.slow
@pytest.mark.parametrize("module", ["vit_job", "bert_job"])
def test_the_pages_models_are_verified_under_an_exact_profile(module: str, folder: Path) -> None:
    order = folder / "exact.cfoil"
    command = ["order", "--from", f"{module}:make_job", "--precision", "exact-20", "--no-trial", "--out", str(order)]
    assert main(command) == 0
    run = record_run(order, folder / "run.cfoil", test_key(folder))
    report = audited(run, order, perturbation="reversed").report
    assert report.outcome is Outcome.VERIFIED, report.reason
    assert (report.steps_replayed, report.exact_bits, report.log_bytes) == (3, 20, 0)


def test_the_page_lists_every_field_and_every_rule() -> None:
    sections = {part.split("\n", 1)[0]: part for part in JOBS.split("\n## ")}

    def listed(title: str) -> set[str]:
        cells = re.findall(r"^\| (`.*?) \|", sections[title], re.MULTILINE)
        return {name for cell in cells for name in re.findall(r"`(?:torch\.optim\.)?(\w+)", cell)}

    assert listed("What a job consists of") == set(CustomJob.__dataclass_fields__)
    rules = set(update.__all__) - {"AtSlot", "UpdateRule", "clip_by_norm", "ParameterGroup"}
    assert listed("Optimizers") == rules | {kind.__name__ for kind in torchs._KINDS}
    assert (rules | {"CustomJob", "PROFILES", "uniform"}) <= set(counterfoil.__all__)
