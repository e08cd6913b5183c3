"""This machine is examined whatever is broken on it, and what is broken is said."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from counterfoil import CancelToken, MachineFact, MachinePage, MachineProgress, MachineState
from counterfoil.cli import main
from counterfoil.doctor import examination, probe
from counterfoil.doctor.examination import examine_machine
from counterfoil.doctor.findings import facts_of
from counterfoil.doctor.observations import Box, Broken, Display, Kernels, Loaded, Seen, SelfTest
from counterfoil.talk import process
from counterfoil.talk.messages import decode
from counterfoil.talk.table import LOOK_AT_DISPLAY, LOOK_AT_SANDBOX
from counterfoil_core.base.errors import CancelledError
from counterfoil_core.base.precision import PROFILES, Precision, is_exact

STANDS_IN = """
import sys
from counterfoil.talk.frames import own_pipes, write_frame
from counterfoil.talk.messages import encode
from counterfoil.doctor.observations import *
from counterfoil.talk.port import Item, Returned
from counterfoil import Device
_, answers = own_pipes()
for each in ({seen}):
    write_frame(answers, encode([Item(1, each)]))
{then}
write_frame(answers, encode([Returned(1, None)]))
"""
LOADED = "Loaded('znver4', ('avx2',), 'AVX2', 2, (Device('cpu', 'x86_64', 'half'),))"


def stand_in(monkeypatch: pytest.MonkeyPatch, seen: str = "", then: str = "") -> None:
    """Let processes that say some of what was seen, and end somehow, take the place of all others."""
    code = STANDS_IN.format(seen=seen, then=then)
    monkeypatch.setattr(process, "program_command", lambda module: [sys.executable, "-P", "-c", code])


def page_of(events: list[MachineProgress | MachinePage]) -> MachinePage:
    *before, page = events
    assert isinstance(page, MachinePage)
    assert all(isinstance(event, MachineProgress) for event in before)
    return page


def not_fine(page: MachinePage) -> dict[str, MachineFact]:
    return {fact.section: fact for fact in page.facts if fact.state is not MachineState.FINE}


def test_this_machine_is_sound_and_every_part_was_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    events = list(examine_machine())
    page = page_of(events)
    assert page.wrong == 0, page.text
    assert {str(fact.section) for fact in page.facts} == {
        "Versions", "Machine", "Sandbox", "Folders", "Computing", "Forms in use", "Self-test", "Display"
    }  # fmt: skip
    tested = [str(fact.name) for fact in page.facts if fact.section == "Self-test"]
    assert [f"cpu: {name}" for name in probe.FAMILIES] == [name for name in tested if name.startswith("cpu")]
    done = [event.done for event in events if isinstance(event, MachineProgress)]
    assert done == sorted(done)
    last = events[-2]
    assert isinstance(last, MachineProgress)
    assert last.done < last.total


def test_the_families_are_one_of_each_kind_of_profile() -> None:
    profiles = [PROFILES[name] for name in probe.FAMILIES]
    assert {p.compute for p in profiles if isinstance(p, Precision)} == {"float64", "float32"}
    assert sum(map(is_exact, profiles)) == 2
    assert len(probe.FAMILIES) == examination.FAMILIES


@pytest.mark.parametrize(
    ("then", "how"),
    [
        ("import os; os.kill(os.getpid(), 4)", "was ended by signal 4"),
        ("print('libcudart.so.13: cannot open', file=sys.stderr); sys.exit(3)", "ended with 3: libcudart.so.13"),
    ],
    ids=["illegal instruction", "exit"],
)
def test_a_process_that_ends_too_early_is_said_with_what_came_before(
    then: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(monkeypatch, f"{LOADED},", then)
    page = page_of(list(examine_machine()))
    bad = [fact for fact in page.facts if fact.state is MachineState.WRONG]
    assert {str(fact.section) for fact in bad} == {"Sandbox", "Computing"}
    assert all(how in fact.value for fact in bad)
    assert [fact.value for fact in page.facts if fact.name == "Processor"] == ["znver4"] * len(examination.PROGRAMS)


def test_what_no_process_of_ours_says_is_believed_of_none(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, then="write_frame(answers, b'no message')")
    page = page_of(list(examine_machine()))
    wrong = {str(fact.section) for fact in page.facts if fact.state is MachineState.WRONG}
    assert wrong == {"Sandbox", "Computing"}


def test_no_process_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "program_command", lambda module: ["/nowhere/python"])
    assert "no process can be started" in not_fine(page_of(list(examine_machine())))["Computing"].value


def test_it_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, then="import time; time.sleep(600)")
    cancel = CancelToken()
    events = examine_machine(cancel)
    assert isinstance(next(events), MachineProgress)
    assert isinstance(next(events), MachineProgress)
    cancel.cancel()
    with pytest.raises(CancelledError):
        next(events)


def probed_without(name: str, raised: str) -> list[Seen]:
    """What the process says that computes, where a package raises something when it is loaded."""
    code = f"""
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {name!r}:
            raise {raised}
sys.meta_path.insert(0, Blocker())
from counterfoil.doctor.probe import probe
from counterfoil.talk.messages import encode
sys.stdout.buffer.write(encode(list(probe())))
"""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, check=True)
    found: list[Seen] = list(decode(done.stdout, tuple[Seen, ...]))
    return found


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("raised", "missing"),
    [("ModuleNotFoundError(f'No module named {name!r}', name=name)", True), ("OSError('undefined symbol: x')", False)],
    ids=["missing", "broken"],
)
@pytest.mark.parametrize("name", ["torch", "numba"])
def test_a_library_that_is_not_there_or_does_not_load_is_said(name: str, raised: str, missing: bool) -> None:
    (seen,) = probed_without(name, raised)
    assert isinstance(seen, Broken)
    assert (seen.part, seen.missing) == (name, missing)
    assert missing or "undefined symbol" in seen.why


def test_where_no_window_is_installed_that_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examination, "PROGRAMS", (LOOK_AT_DISPLAY,))
    monkeypatch.setattr(examination, "find_spec", lambda name: None)
    noted = not_fine(page_of(list(examine_machine())))["Display"]
    assert noted.state is MachineState.NOTE
    assert "the window is not installed" in noted.value


def test_a_display_that_ends_the_process_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    """Qt aborts where its platform cannot be had."""
    monkeypatch.setenv("QT_QPA_PLATFORM", "no-such-platform")
    monkeypatch.setattr(examination, "PROGRAMS", (LOOK_AT_DISPLAY,))
    noted = not_fine(page_of(list(examine_machine())))["Display"]
    assert noted.state is MachineState.NOTE
    assert "signal 6" in noted.value
    assert noted.remedy


def test_a_folder_that_takes_no_file_is_found_and_nothing_is_left_in_one_that_does(tmp_path: Path) -> None:
    assert examination.look_at_folder("x", tmp_path / "not" / "yet").writable
    assert not list(tmp_path.iterdir())
    file = tmp_path / "file"
    file.write_text("")
    assert not examination.look_at_folder("x", file / "below").writable


def test_the_command_prints_the_page_or_json_and_says_by_its_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in(monkeypatch, "SelfTest('cpu', 'exact-20', 1.0, 'This machine computes exact products wrongly.'),")
    assert main(["doctor"]) == 4
    said = capsys.readouterr().out
    assert "WRONG" in said
    assert "computes exact products wrongly" in said
    assert main(["doctor", "--json"]) == 4
    told = json.loads(capsys.readouterr().out)
    assert told["wrong"] == len(examination.PROGRAMS)
    assert {fact["state"] for fact in told["facts"]} >= {"fine", "wrong"}
    stand_in(monkeypatch, "SelfTest('cpu', 'exact-20', 1.0),")
    assert main(["doctor", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["wrong"] == 0


@pytest.mark.parametrize("words", [("--processes", "2"), ("--compile", "--json")])
def test_options_that_do_not_belong_together_are_refused(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", *words]) == 4
    assert "doctor" in capsys.readouterr().err


@pytest.mark.parametrize("found", [True, False])
def test_whether_an_address_is_found_by_this_machines_own_name(monkeypatch: pytest.MonkeyPatch, found: bool) -> None:
    def ask(host: str, port: object) -> list[object]:
        assert (host, port) == ("here", None), "no other name is asked for"
        if not found:
            raise socket.gaierror(-2, "Name or service not known")
        return []

    monkeypatch.setattr(socket, "getfqdn", lambda: "here")
    monkeypatch.setattr(socket, "getaddrinfo", ask)
    assert examination.look_at_name() == ("here", "" if found else "Name or service not known")


def test_a_name_service_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    answered = threading.Event()
    monkeypatch.setattr(examination, "NAME_SECONDS", 0.1)
    monkeypatch.setattr(socket, "getfqdn", lambda: str(answered.wait(30)))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: [])
    assert examination.look_at_name() == (socket.gethostname(), "no answer within 0 seconds")
    answered.set()
    for thread in threading.enumerate():
        if thread.name == "name":
            thread.join()


def test_the_process_of_the_box_closes_it_as_a_replay_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examination, "PROGRAMS", (LOOK_AT_SANDBOX,))
    monkeypatch.delenv("COUNTERFOIL_SANDBOX", raising=False)
    (line,) = [fact for fact in page_of(list(examine_machine())).facts if fact.section == "Sandbox"]
    monkeypatch.setenv("COUNTERFOIL_SANDBOX", "off")
    (off,) = [fact for fact in page_of(list(examine_machine())).facts if fact.section == "Sandbox"]
    assert "switched off by COUNTERFOIL_SANDBOX" in off.value
    assert off.value != line.value


def test_every_kind_of_thing_that_is_seen_makes_a_fact() -> None:
    kinds = (Box((), ()), Broken("torch", "x"), Display("6", "x", ()), Kernels("", 0, 1), SelfTest("cpu", "x", 1.0))
    assert all(facts_of([each]) for each in (*kinds, Loaded("x", (), "x", 1, ())))
