"""Titles, names and environments are a stranger's: a terminal shows them within their line, without codes."""

from __future__ import annotations

import io
import json
import logging
import re
import sys
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from counterfoil.audit.overview import inspect
from counterfoil.cli import main, reports, terminal
from counterfoil.signing.comparedsteps import FoundComparison
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.signing.envelope import sign_statement
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.kinds import VERDICT, make_statement
from counterfoil_core.values.outcome import Outcome
from support.jobs import digits_order, record_run, sign_again

FORGED = "VERIFIED All 999 steps were replayed"
HOSTILE = (
    f"digits\n{FORGED}\r{FORGED}\x1b[2K\x1b[1;32m{FORGED}\x1b[0m\x1b]0;title\x07\x9b32m{FORGED}\x85{FORGED}\u2028{FORGED}"
    f"\u202e{FORGED[::-1]}\u202c\u2066\U000e0041[bold green]{FORGED}[/] :white_check_mark: {' ' * 300}{FORGED}\\"
)
HIDDEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}


def assert_harmless(shown: str) -> None:
    """Nothing but visible characters and our own line ends, and no line that begins as ours do."""
    found = {character for character in shown if unicodedata.category(character) in HIDDEN} - {"\n"}
    assert not found, [hex(ord(character)) for character in found]
    assert not [line for line in shown.splitlines() if line.strip().startswith(FORGED)]


@pytest.fixture(scope="module")
def order(tmp_path_factory: pytest.TempPathFactory) -> Path:
    draft = digits_order()
    manifest = replace(draft.manifest, title=HOSTILE, recipe=HOSTILE, optimizer=HOSTILE)
    path = tmp_path_factory.mktemp("text") / "job.cfoil"
    replace(draft, manifest=manifest).write(path, trial=False)
    return path


@pytest.fixture(scope="module")
def run(order: Path, trainer_key: SigningKey) -> Path:
    run = record_run(order, order.with_name("run.cfoil"), trainer_key)
    environment = {"device": HOSTILE, "torch": HOSTILE, HOSTILE: HOSTILE}
    sign_again(run, trainer_key, environment=environment)
    return run


@pytest.fixture(scope="module")
def keys(order: Path) -> Path:
    assert main(["keygen", str(order.with_name("auditor.pem")), "--no-passphrase"]) == 0
    return order.with_name("auditor.pem")


Show = Callable[..., tuple[int, str]]


@pytest.fixture
def show(capsys: pytest.CaptureFixture[str]) -> Show:
    def run_command(*arguments: object) -> tuple[int, str]:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        caught = capsys.readouterr()
        return code, caught.out + caught.err

    return run_command


def test_inspect_shows_codes_instead(run: Path, order: Path, show: Show) -> None:
    code, shown = show("inspect", run, "--order", order)
    assert code == 0
    assert_harmless(shown)
    assert "digits\\x0aVERIFIED" in shown
    assert "\\x1b[2K" in shown


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "command",
    [
        ["inspect", "{order}"],
        ["plan", "{run}"],
        ["audit", "{run}", "--order", "{order}"],
        ["audit", "{run}", "--segments", "1"],
        ["referee", "{run}", "{run}"],
        ["panel", "{run}", "{run}", "{run}"],
        ["calibrate", "{order}", "--steps", "1"],
        ["train", "{order}", "--out", "{new}", "--key", "{key}"],
        ["adjudicate", "{run}"],
    ],
    ids=lambda command: " ".join(command[:1]),
)
def test_each_command(run: Path, order: Path, keys: Path, tmp_path: Path, show: Show, command: list[str]) -> None:
    names = {"run": run, "order": order, "key": keys, "new": tmp_path / "new.cfoil"}
    code, shown = show("--debug", *(part.format(**names) for part in command))
    assert code == (Outcome.REFUSED.exit_code if command[0] == "adjudicate" else 0)
    assert_harmless(shown)


def test_audit_and_verify_with_a_verdict(run: Path, keys: Path, tmp_path: Path, show: Show) -> None:
    verdict, table = tmp_path / "verdict.json", tmp_path / "steps.csv"
    code, shown = show("audit", run, "--verdict", verdict, "--key", keys, "--csv", table)
    assert code == Outcome.VERIFIED.exit_code
    assert_harmless(shown)
    public = keys.with_name("auditor.pub.pem")
    code, shown = show("verify", verdict, "--key", public, run)
    assert code == 0
    assert_harmless(shown)
    for line in table.read_text(encoding="utf-8").splitlines()[1:]:  # no cell that a spreadsheet takes for a formula
        assert re.fullmatch(r"[0-9a-z.,\-]*", line), line


def test_verify_with_a_hostile_statement(keys: Path, tmp_path: Path, show: Show) -> None:
    from counterfoil.signing.privatekeys import load_private_key

    key = load_private_key(keys, None)
    subject = {"name": HOSTILE, "digest": {"sha256": "00", HOSTILE: HOSTILE}}
    for kind, predicate in ((HOSTILE, {}), (VERDICT.predicate, {HOSTILE: 1}), (VERDICT.predicate, {"reason": HOSTILE})):
        path = tmp_path / "v.json"
        path.write_bytes(sign_statement(make_statement([subject], kind, predicate), key))
        code, shown = show("--debug", "verify", path, "--key", keys.with_name("auditor.pub.pem"))
        assert code == Outcome.REFUSED.exit_code
        assert_harmless(shown)


@pytest.mark.skipif(sys.platform == "win32", reason="no such file names")
def test_a_hostile_file_name(run: Path, tmp_path: Path, show: Show) -> None:
    name = HOSTILE.replace("/", "|")[:80]
    there = tmp_path / name
    there.write_bytes(run.read_bytes())
    for command in (["inspect", there], ["referee", there, run], ["audit", there, "--segments", "1"]):
        assert_harmless(show(*command)[1])
    for command in ("inspect", "audit", "plan", "adjudicate", "verify", "calibrate"):
        more = ["--key", tmp_path / name] if command == "verify" else []
        code, shown = show(command, tmp_path / f"none{name}", *more)
        assert code in (3, 4)
        assert_harmless(shown)


def test_json_is_ascii_and_says_what_the_file_says(run: Path, show: Show) -> None:
    code, shown = show("inspect", run, "--json")
    assert code == 0
    assert shown.isascii()
    assert json.loads(shown)["order"]["title"] == HOSTILE
    assert_harmless(shown)


def test_no_colour_of_its_own(run: Path) -> None:
    """On a terminal that shows colours, the codes are those that an honest title would be shown with."""

    def codes(title: str) -> list[str]:
        summary = inspect(run)
        out = io.StringIO()
        console = Console(file=out, force_terminal=True, width=100_000, emoji=False, highlight=False)
        honest = replace(summary.order, title=title, recipe=title, optimizer=title)
        assert summary.run is not None
        ran = replace(summary.run, environment=(("device", title),), signed_at=title, trainer_key=title)
        checks = tuple(replace(check, detail=title) for check in summary.checks)
        said = replace(summary, order=honest, run=ran, checks=checks, sentence=title)
        said = replace(said, comparison=FoundComparison(title, None, title))
        reports.show_summary(console, said, said.compared())
        return re.findall(r"\x1b[^a-zA-Z]*[a-zA-Z]", out.getvalue())

    assert codes(HOSTILE) == codes("honest") != []
    assert codes("\\") == codes("\\\\\\") == codes("[/]\\") == codes("honest")


def test_a_log_record_keeps_its_line() -> None:
    try:
        raise ProgramError(HOSTILE, detail=HOSTILE)
    except ProgramError:
        record = logging.LogRecord("x", logging.DEBUG, "x", 1, "%s", (HOSTILE,), sys.exc_info())
    shown = terminal.LogFormatter().format(record)
    assert_harmless(shown)
    first, *rest = shown.splitlines()
    assert first.startswith("DEBUG:x:digits\\x0a")
    assert rest
    assert all(line.startswith("    | ") for line in rest)
