from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from counterfoil import __version__
from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.cli import main
from counterfoil.cli.app import app
from counterfoil.signing.privatekeys import load_private_key
from counterfoil.talk.programs import PASSPHRASE_VARIABLE
from counterfoil.training.recipes import digits
from counterfoil.training.recorder import record
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.base.errors import CancelledError
from support.interrupted import stop_after
from support.jobs import captured_once, replaced

SMALL = ("--steps", "3", "--width", "4", "--batch-size", "8", "--checkpoint-every", "1")


@pytest.fixture(scope="module", autouse=True)
def operators_captured_once() -> Iterator[None]:
    """The first order captures its step; the others of the same size are of the same operators."""
    with replaced(digits, "capture_step", captured_once("digits, by command", {})):
        yield


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an order, keys, an honest and a tampered run."""
    folder = tmp_path_factory.mktemp("job")
    assert main(["order", "digits-cnn", "--out", str(folder / "job.cfoil"), *SMALL]) == 0
    assert main(["order", "digits-cnn", "--out", str(folder / "other.cfoil"), *SMALL, "--seed", "1"]) == 0
    for name in ("trainer.pem", "auditor.pem"):
        assert main(["keygen", str(folder / name), "--no-passphrase"]) == 0
    key = str(folder / "trainer.pem")
    assert main(["train", str(folder / "job.cfoil"), "--out", str(folder / "run.cfoil"), "--key", key]) == 0
    tampered = record(
        folder / "job.cfoil", folder / "tampered.cfoil", load_private_key(key, None), tamper=LabelFlip(step=2)
    )
    for _ in tampered:
        pass
    return folder


def test_the_whole_job(job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    verdict, table = tmp_path / "verdict.json", tmp_path / "steps.csv"
    code = main(
        [
            "audit",
            str(job / "run.cfoil"),
            "--order",
            str(job / "job.cfoil"),
            "--verdict",
            str(verdict),
            "--key",
            str(job / "auditor.pem"),
            "--trainer-key",
            str(job / "trainer.pub.pem"),
            "--csv",
            str(table),
        ]
    )
    assert code == 0
    shown = capsys.readouterr().out
    assert "VERIFIED" in shown
    assert "Order: the client's own; Trainer: named; Machine: self-test passed" in shown
    assert "it is open" not in shown
    with table.open(encoding="utf-8", newline="") as file:
        assert [row["match"] for row in csv.DictReader(file)] == ["match"] * 3
    check = ["verify", str(verdict), "--key", str(job / "auditor.pub.pem")]
    assert main([*check, str(job / "run.cfoil")]) == 0
    assert "signature holds" in capsys.readouterr().out
    assert main([*check, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["order_source"] == "client"
    assert main([*check, str(job / "tampered.cfoil")]) == 3
    assert "another file" in capsys.readouterr().err
    assert main(["verify", str(verdict), "--key", str(job / "trainer.pub.pem")]) == 3


def test_a_tampered_run_is_disputed_at_its_step(job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    verdict = tmp_path / "verdict.json"
    key = str(job / "auditor.pem")
    assert main(["audit", str(job / "tampered.cfoil"), "--verdict", str(verdict), "--key", key]) == 1
    shown = capsys.readouterr().out
    assert "disputed step   2" in shown
    assert "taken from the file itself" in shown
    # A verdict that holds and says DISPUTED must not pass for success in a script.
    assert main(["verify", str(verdict), "--key", str(job / "auditor.pub.pem")]) == 1


def test_a_sample_as_the_command_line_asks_for_it(
    job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(job / "run.cfoil")
    assert main(["plan", run]) == 0
    assert "whole run" in capsys.readouterr().out
    assert main(["plan", run, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"] == 3
    assert main(["audit", run, "--segments", "1-1", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["trust"]["level"], report["trust"]["order"], report["trust"]["trainer"]) == (
        "open", "not compared", "not named",
    )  # fmt: skip
    assert (report["sample"]["selection"], report["sample"]["spans"]) == ("listed", [[1, 1]])
    assert main(["audit", run, "--segments", "1", "--nonce", "0" * 64]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"nonce {'0' * 64}" in shown
    assert "Order: not compared; Trainer: not named; Machine: self-test passed" in shown
    assert "it is open whether this is what the client ordered" in shown
    assert main(["audit", run, "--segments", "99"]) == 4
    assert main(["audit", run, "--segments", "1", "--confidence", "0.9"]) == 4
    assert "not by both" in capsys.readouterr().err


def test_a_referee_and_a_panel(job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, bad = str(job / "run.cfoil"), str(job / "tampered.cfoil")
    assert main(["referee", run, bad, "--order", str(job / "job.cfoil")]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "part at step 2 of 3" in shown
    assert "EXPOSED Not what was ordered: tampered.cfoil." in shown
    assert main(["referee", run, run]) == 0
    assert "AGREED" in capsys.readouterr().out
    assert main(["panel", run, bad, run, "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert [member["standing"] for member in report["members"]] == ["right there", "wrong", "right there"]
    assert main(["panel", run, str(tmp_path / "none.cfoil")]) == 4
    assert main(["panel", run]) == 4


def test_audit_as_json_keeps_progress_off_standard_output(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(job / "tampered.cfoil"), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["outcome"] == "DISPUTED"
    assert report["dispute"]["step"] == 2
    assert report["mismatched_steps"][0] == 2
    assert report["environment"]["device"] == "cpu"


def test_another_order_is_refused(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [str(job / "run.cfoil"), "--order", str(job / "other.cfoil")]
    assert main(["audit", *arguments]) == 3
    assert "REFUSED" in capsys.readouterr().out
    assert main(["inspect", *arguments]) == 3


def test_inspect_as_text_and_as_json(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(job / "run.cfoil"), "--order", str(job / "job.cfoil")]) == 0
    assert "was made for the client's order" in capsys.readouterr().out
    assert main(["inspect", str(job / "run.cfoil"), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["order"]["steps"] == 3
    assert len(summary["run"]["losses"]) == 3
    assert main(["inspect", str(job / "job.cfoil")]) == 0
    assert "nobody has run yet" in capsys.readouterr().out


@pytest.mark.slow
def test_gpt2_on_the_bytes_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "text.txt"
    text.write_text("To be, or not to be, that is the question. " * 20, encoding="utf-8")
    size = ("--layers", "1", "--heads", "2", "--width", "8", "--context", "8", "--steps", "2", "--batch-size", "2")
    out = tmp_path / "gpt.cfoil"
    assert main(["order", "gpt2", "--text", str(text), "--out", str(out), *size]) == 0
    assert main(["inspect", str(out)]) == 0
    assert "gpt2" in capsys.readouterr().out


def test_a_dispute_as_a_capsule(job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsule, signed = tmp_path / "dispute.cfoil", tmp_path / "adjudication.json"
    assert main(["audit", str(job / "tampered.cfoil"), "--capsule", str(capsule)]) == 1
    assert "Anybody can check it" in " ".join(capsys.readouterr().out.split())
    judge = ["adjudicate", str(capsule), "--order", str(job / "job.cfoil")]
    sign = ["--verdict", str(signed), "--key", str(job / "auditor.pem")]
    assert main([*judge, "--trainer-key", str(job / "trainer.pub.pem"), *sign]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "CONFIRMED" in said
    assert "Step 2 is not what was ordered" in said
    check = ["verify", str(signed), "--key", str(job / "auditor.pub.pem"), str(capsule)]
    assert main(check) == 1
    assert "step 2 of 3, replayed from the state after step 1" in capsys.readouterr().out
    assert main([*judge, "--json"]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert (shown["outcome"], shown["step"], shown["dispute"]["step"]) == ("CONFIRMED", 2, 2)
    assert main(["adjudicate", str(capsule), "--order", str(job / "other.cfoil")]) == 3
    assert main(["adjudicate", str(capsule), "--trainer-key", str(job / "auditor.pub.pem")]) == 3


def test_without_a_dispute_no_capsule_is_written(job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsule = tmp_path / "dispute.cfoil"
    assert main(["audit", str(job / "run.cfoil"), "--capsule", str(capsule)]) == 0
    assert "No capsule was written: there is no single step" in capsys.readouterr().out
    assert not capsule.exists()


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["audit", "none.cfoil"], 4, "none.cfoil"),
        (["audit", "{job}/tampered.cfoil", "--capsule", "{job}/run.cfoil"], 4, "exists"),
        (["adjudicate", "none.cfoil"], 4, "none.cfoil"),
        (["adjudicate", "{job}/run.cfoil"], 3, "where a capsule is needed"),
        (["adjudicate", "{job}/run.cfoil", "--verdict", "v.json"], 4, "--key"),
        (["inspect", "none.cfoil"], 4, "none.cfoil"),
        (["inspect", "{job}/trainer.pem"], 3, "not a Counterfoil bundle"),
        (["audit", "{job}/job.cfoil"], 3, "nobody has run"),
        (["audit", "{job}/run.cfoil", "--device", "cuda:99"], 4, "device"),
        (["audit", "{job}/run.cfoil", "--threads", "0"], 4, "threads"),
        (["audit", "{job}/run.cfoil", "--verdict", "v.json"], 4, "--key"),
        (["audit", "{job}/run.cfoil", "--csv", "no folder/steps.csv"], 4, "no folder"),
        (["train", "{job}/job.cfoil", "--out", "r.cfoil", "--key", "none.pem"], 4, "none.pem"),
        (["train", "{job}/job.cfoil", "--out", "{job}/run.cfoil", "--key", "{job}/trainer.pem"], 4, "exists"),
        (["train", "{job}/trainer.pem", "--out", "r.cfoil", "--key", "{job}/trainer.pem"], 3, "bundle"),
        (["verify", "{job}/trainer.pem", "--key", "{job}/auditor.pub.pem"], 3, "envelope"),
        (["verify", "none.json", "--key", "{job}/auditor.pub.pem"], 4, "none.json"),
        (["order", "gpt2", "--text", "none.txt", "--out", "o.cfoil"], 4, "none.txt"),
        (["order", "gpt2", "--text", "{job}/trainer.pem", "--out", "o.cfoil"], 4, "batch"),
        (["order", "digits-cnn", "--out", "o.cfoil", "--commit-every", "2"], 4, "multiple"),
        (["keygen", "{job}/trainer.pem", "--no-passphrase"], 4, "exists"),
        (["audit"], 4, "Missing"),
        (["nonsense"], 4, "nonsense"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
)
def test_errors_are_sentences(
    job: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([argument.format(job=job) for argument in arguments]) == code
    shown = capsys.readouterr()
    assert sentence in " ".join((shown.out + shown.err).split())
    assert "Traceback" not in shown.out + shown.err
    assert list(tmp_path.iterdir()) == []


def test_a_passphrase_from_the_environment(
    job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    key = tmp_path / "trainer.pem"
    train = ["train", str(job / "job.cfoil"), "--out", str(tmp_path / "run.cfoil"), "--key", str(key)]
    monkeypatch.setenv(PASSPHRASE_VARIABLE, "correct horse")
    assert main(["keygen", str(key)]) == 0
    assert b"ENCRYPTED" in key.read_bytes()
    monkeypatch.setenv(PASSPHRASE_VARIABLE, "wrong horse")
    assert main(train) == 4
    assert "wrong" in capsys.readouterr().err
    monkeypatch.delenv(PASSPHRASE_VARIABLE)
    assert main(train) == 4
    assert PASSPHRASE_VARIABLE in " ".join(capsys.readouterr().err.split())
    monkeypatch.setenv(PASSPHRASE_VARIABLE, "correct horse")
    assert main(train) == 0


def test_an_unexpected_failure_is_an_error_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def broken(*_: object, **_named: object) -> None:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr("counterfoil.cli.statements.start_signer", broken)
    assert main(["keygen", str(tmp_path / "key.pem"), "--no-passphrase"]) == 4
    shown = capsys.readouterr().err
    assert "ZeroDivisionError: on purpose" in shown
    assert "--debug" in shown
    assert "Traceback" not in shown


def test_an_interrupt_sets_the_token_and_is_undone() -> None:
    before = signal.getsignal(signal.SIGINT)
    with cancel_on_interrupt() as token:
        os.kill(os.getpid(), signal.SIGINT)
        deadline = time.monotonic() + 60
        while not token.cancelled and time.monotonic() < deadline:
            time.sleep(0.001)
        assert token.cancelled
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_in_a_callback_of_the_interpreter_is_not_lost(capsys: pytest.CaptureFixture[str]) -> None:
    """What a destructor raises is shown and forgotten; the imports of large libraries have many such places."""

    class Interrupted:
        def __del__(self) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            sum(range(10_000))

    before = signal.getsignal(signal.SIGALRM), sys.unraisablehook

    def work() -> None:
        with cancel_on_interrupt() as token, token.at_once():
            Interrupted()
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline:
                pass

    begun = time.monotonic()
    with pytest.raises(CancelledError):
        work()
    assert time.monotonic() < begun + 20
    assert "Traceback" not in capsys.readouterr().err
    assert (signal.getsignal(signal.SIGALRM), sys.unraisablehook) == before


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
@pytest.mark.parametrize(("run", "code"), [("run.cfoil", 0), ("tampered.cfoil", 1)])
def test_who_reads_one_line_only_gets_the_same_verdict(job: Path, tmp_path: Path, run: str, code: int) -> None:
    """``counterfoil audit ... | head -1``: standard output is closed before anything stands in it."""
    verdict = tmp_path / "verdict.json"
    command = [sys.executable, "-m", "counterfoil.cli", "audit", str(job / run), "--verdict", str(verdict)]
    command += ["--key", str(job / "auditor.pem"), "--order", str(job / "job.cfoil")]
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=300, check=False)
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (code, "")
    assert verdict.exists()


@pytest.mark.sampled(2)
@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
@pytest.mark.parametrize("arguments", [["--help"], ["audit", "--help"], ["--version"], ["inspect", "nothing.cfoil"]])
def test_nobody_reads_either_stream(arguments: list[str], tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "counterfoil.cli", *arguments]
    ended = subprocess.run(command, stdout=writing, stderr=writing, cwd=tmp_path, timeout=300, check=False)
    os.close(writing)
    assert ended.returncode == (4 if arguments[0] == "inspect" else 0)


def test_help_shows_what_stands_in_brackets(capsys: pytest.CaptureFixture[str]) -> None:
    """rich takes ``[cluster]`` for markup, and shows nothing of it."""

    def commands(group: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
        yield path, group
        for name, command in getattr(group, "commands", {}).items():
            yield from commands(getattr(command, "loaded", command), (*path, name))

    found = 0
    for path, command in commands(get_command(app), ()):
        texts = [command.help or "", *(getattr(each, "help", None) or "" for each in command.params)]
        words = [word for text in texts for word in re.findall(r"\[[a-z][^\[\]]*\]", text)]
        if words:
            main([*path, "--help"])
            shown = "".join(capsys.readouterr().out.split())
            assert all("".join(word.split()) in shown for word in words), (path, words)
            found += len(words)
    assert found


def test_the_help_of_export_tells_its_short_form(capsys: pytest.CaptureFixture[str]) -> None:
    main(["export", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "'counterfoil export RUN --safetensors DIR' is short for" in shown


def test_an_interrupt_in_a_string_that_was_executed_is_told_by_the_exit_code(tmp_path: Path) -> None:
    """CPython remembers it, even where it was caught, and ends modules by SIGINT; dataclasses execute strings."""
    (tmp_path / "interrupted.py").write_text(
        "import sys\n"
        "from counterfoil.cli import app\n"
        "app._parser = lambda: lambda **_: exec('raise KeyboardInterrupt')\n"
        "sys.argv = ['counterfoil', 'inspect']\n"
        "sys.exit(app.main())\n"
    )
    command = [sys.executable, "-m", "interrupted"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 2, ended
    assert "nothing was concluded" in ended.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_interrupted_training_keeps_what_is_done(job: Path, tmp_path: Path) -> None:
    long = tmp_path / "long.cfoil"
    assert main(["order", "digits-cnn", "--out", str(long), *SMALL, "--steps", "5000"]) == 0
    command = [sys.executable, "-m", "counterfoil.cli", "train", str(long)]
    command += ["--out", str(tmp_path / "run.cfoil"), "--key", str(job / "trainer.pem")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    steps = tmp_path / ".run.cfoil.recording" / "steps-00000001"
    deadline = time.monotonic() + 120
    while not (steps.exists() and steps.stat().st_size) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 2, err
    assert "Stopped; the first" in err
    assert "The same command with --resume goes on from there." in err
    assert "Traceback" not in err
    assert sorted(path.name for path in tmp_path.iterdir()) == [".run.cfoil.recording", "long.cfoil"]


def test_training_goes_on_where_it_was_stopped(
    job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, heads = tmp_path / "run.cfoil", tmp_path / "heads.jsonl"
    order, key = job / "job.cfoil", job / "trainer.pem"
    command = ["train", str(order), "--out", str(run), "--key", str(key), "--heads", str(heads), "--heads-every", "1"]
    stop_after(2, order, run, load_private_key(key, None), heads=heads, heads_every=1)
    assert main([*command, "--resume", "--fresh"]) == 4
    assert "give one or the other" in " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert main([*command, "--force"]) == 4
    error = " ".join(capsys.readouterr().err.split())
    assert "An unfinished recording of this run lies in" in error
    assert "Go on with it: add --resume. Or discard it: add --fresh." in error
    published = heads.read_bytes()
    assert main([*command, "--resume"]) == 0
    assert "Going on after step 2." in capsys.readouterr().out
    assert heads.read_bytes().startswith(published)
    assert main(["audit", str(run), "--order", str(order), "--heads", str(heads)]) == 0
    assert not (tmp_path / ".run.cfoil.recording").exists()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["verdict", "csv"])
def test_a_full_disk_leaves_the_old_file(
    job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    old = tmp_path / name
    old.write_bytes(b"old")
    key = ["--key", str(job / "auditor.pem")] if name == "verdict" else []

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("counterfoil.base.wholefiles.os.fsync", full)
    assert main(["audit", str(job / "run.cfoil"), f"--{name}", str(old), "--force", *key]) == 4
    error = " ".join(capsys.readouterr().err.split())
    assert f"cannot be written to {old}: the disk is full. Make room there, or choose another folder." in error
    assert old.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_an_interrupted_replay_is_inconclusive(
    job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from counterfoil_core.hearing import session
    from counterfoil_core.values import events

    original = session.run_audit

    def interrupted(*arguments: object) -> object:
        for event in original(*arguments):  # type: ignore[arg-type]
            if isinstance(event, events.StepReplayed):
                os.kill(os.getpid(), signal.SIGINT)
            yield event

    monkeypatch.setattr(session, "run_audit", interrupted)
    verdict = tmp_path / "verdict.json"
    key = str(job / "auditor.pem")
    assert main(["audit", str(job / "run.cfoil"), "--verdict", str(verdict), "--key", key]) == 2
    assert "INCONCLUSIVE" in capsys.readouterr().out
    assert main(["verify", str(verdict), "--key", str(job / "auditor.pub.pem")]) == 2


def test_the_version_is_shown_without_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"counterfoil {__version__}\n"


def test_the_package_run_as_a_program_is_the_command(tmp_path: Path) -> None:
    def ended(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "counterfoil", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False)
        return done.returncode, done.stdout

    assert ended("--version") == (0, f"counterfoil {__version__}\n")
    assert ended("inspect", "nothing.cfoil")[0] == 4


def test_help_lists_the_commands_in_the_order_in_which_people_meet_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    lines = [line.strip("│ ").split(" ")[0] for line in capsys.readouterr().out.split("Commands")[1].splitlines()[1:]]
    expected = "order calibrate train inspect plan audit adjudicate referee panel verify sign keygen gui demo"
    assert [name for name in lines if name in expected.split()] == expected.split()


def test_help_answers_without_torch() -> None:
    code = "import sys; from counterfoil.cli import main; main(['--help']); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


def test_data_outside_the_bundle(job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    order, data, run = (str(tmp_path / name) for name in ("job.cfoil", "digits.cfdata", "run.cfoil"))
    write = ["order", "digits-cnn", "--out", order, "--external-data", data, *SMALL]
    assert main(write) == 0
    assert "Keep both" in capsys.readouterr().out
    assert main(write) == 4, "an existing file is not replaced"
    assert main(["order", "digits-cnn", "--out", order, "--external-data", order, "--force", *SMALL]) == 4
    train = ["train", order, "--out", run, "--key", str(job / "trainer.pem")]
    capsys.readouterr()
    assert main(train) == 4
    assert "--data FILE" in capsys.readouterr().err
    assert main([*train, "--data", order]) == 4, "a wrong file is the giver's slip"
    assert "REFUSED" not in capsys.readouterr().err
    assert main(["calibrate", order, "--out", str(tmp_path / "c.cfoil"), "--data", order]) == 4
    assert main([*train, "--data", data]) == 0
    assert main(["audit", run, "--order", order]) == 4
    assert main(["audit", run, "--order", order, "--data", order]) == 4
    assert main(["audit", run, "--order", order, "--data", data]) == 0
    capsys.readouterr()
    assert main(["inspect", run]) == 0
    assert "in the data file digits.cfdata" in capsys.readouterr().out


def test_an_interrupt_while_the_command_line_is_loaded_ends_in_a_sentence() -> None:
    code = """
import sys

class Interrupts:
    def find_spec(self, name, path, target=None):
        if name == "counterfoil.cli.commands":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupts())
from counterfoil.cli import main
from counterfoil.cli.app import app
sys.exit(main(["--version"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stderr == "INCONCLUSIVE  Stopped; nothing was concluded.\n"


def test_a_verdict_is_signed_where_the_key_is(job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Replay and key on two machines: one writes the statement, the other shows it, and signs it."""
    run, order, unsigned = str(job / "run.cfoil"), str(job / "job.cfoil"), tmp_path / "v.json"
    assert main(["audit", run, "--order", order, "--unsigned", str(unsigned)]) == 0
    assert "It is not signed yet" in capsys.readouterr().out
    public = str(job / "auditor.pub.pem")
    assert main(["verify", str(unsigned), "--key", public]) == 3
    signed = str(tmp_path / "signed.json")
    assert main(["sign", str(unsigned), "--key", str(job / "auditor.pem"), "--out", signed]) == 0
    assert main(["verify", signed, "--key", public, run]) == 0
    capsys.readouterr()
    both = ["--unsigned", str(tmp_path / "w.json"), "--verdict", signed, "--key", str(job / "auditor.pem")]
    assert main(["audit", run, *both]) == 4
    assert "--unsigned is for a key on another machine" in " ".join(capsys.readouterr().err.split())
    assert main(["audit", run, "--unsigned", str(unsigned)]) == 4, "what is there is not replaced unasked"
