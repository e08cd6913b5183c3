"""A command that a program has carried out by a process of its own: as at a terminal, in the same box."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from counterfoil import CancelToken, CommandEnded, CommandProgress, OrderError, command_form, generate_key, run_command
from counterfoil_core.base.errors import CancelledError, CounterfoilError
from support.jobs import Job


def carried_out(*arguments: object, passphrase: str | None = None) -> CommandEnded:
    *_, last = run_command(tuple(map(str, arguments)), passphrase, CancelToken())
    assert isinstance(last, CommandEnded)
    return last


def test_a_key_is_opened_with_a_passphrase_that_is_in_no_environment(digits_job: Job, tmp_path: Path) -> None:
    key, note = tmp_path / "client.pem", tmp_path / "note.json"
    generate_key(key, "secret words")
    before = set(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else set()
    ended = carried_out(
        "note", digits_job.order, "--says", "as they come", "--key", key, "--out", note, passphrase="secret words"
    )
    assert (ended.code, note.is_file()) == (0, True)
    assert str(note) in ended.said
    with pytest.raises(OrderError, match="passphrase") as wrong:
        carried_out("note", digits_job.order, "--says", "x", "--key", key, "--out", tmp_path / "n", passphrase="other")
    assert "other" not in f"{wrong.value.sentence} {wrong.value.detail}"
    if before:
        assert set(os.listdir("/proc/self/fd")) <= before


def test_progress_is_told_and_an_error_says_which_option_it_is_about(digits_job: Job, tmp_path: Path) -> None:
    told = list(
        run_command(
            ("export", "weights", str(digits_job.run), "--safetensors", str(tmp_path / "m")), None, CancelToken()
        )
    )
    assert any(isinstance(event, CommandProgress) for event in told)
    assert (tmp_path / "m" / "model.safetensors").is_file()
    with pytest.raises(OrderError) as found:
        carried_out("sign-order", tmp_path / "none.cfoil", "--key", tmp_path / "none.pem")
    assert found.value.option == "key"
    with pytest.raises(OrderError, match="steps"):
        carried_out("calibrate", digits_job.order, "--steps", "0")


def test_an_exit_code_is_no_failure(digits_job: Job, tmp_path: Path) -> None:
    ended = carried_out("inspect", digits_job.run)
    assert ended.code == 0
    assert "The run is signed and complete." in ended.said


def test_a_job_is_ended_at_once(digits_job: Job, tmp_path: Path) -> None:
    cancel = CancelToken()
    events = run_command(("calibrate", str(digits_job.order), "--out", str(tmp_path / "o.cfoil")), None, cancel)
    assert isinstance(next(events), CommandProgress)
    cancel.cancel()
    with pytest.raises(CancelledError):
        list(events)
    assert not (tmp_path / "o.cfoil").exists()


def test_forms_name_what_is_read_and_written() -> None:
    kinds = {option.name: option.kind for option in command_form(("merge",)).options}
    assert (kinds["parts"], kinds["run"], kinds["verdict"], kinds["key"]) == ("files", "file", "target", "key")
    assert command_form(("export", "weights", "run.cfoil")).name == "export weights"
    with pytest.raises(KeyError):
        command_form(("no-such-command",))


def test_a_quotation_mark_that_is_not_closed(tmp_path: Path) -> None:
    with pytest.raises(CounterfoilError, match="quotation mark"):
        command_form(("merge",)).arguments({"parts": "'a b"})
