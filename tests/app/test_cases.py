"""The store of cases: what it remembers, what it refuses, and where a case stands."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace as changed

from counterfoil import CounterfoilError, Outcome, SegmentRequest
from counterfoil_app.model.case_file import FILE_NAME, MAX_CASES, MAX_FILES, Case, CaseFile, FileKind, Parties, Replay
from counterfoil_app.model.cases import MAX_RECENT, Cases
from counterfoil_app.model.casestate import CaseState, NextStep, result_of, standing_of
from counterfoil_app.model.history import Past
from counterfoil_app.model.otherwindows import Replaying
from counterfoil_core.signing.subject import Subject
from support.fake_engine import digest
from support.reports import verified_report

ORDER = digest("order")
RUN = Subject(ORDER, digest("run"), digest("trainer").hex)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "config" / FILE_NAME


def made(folder: Path, name: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def another(root: str) -> Subject:
    return changed(RUN, run_root=digest(root))


def past_of(
    path: Path, outcome: Outcome = Outcome.VERIFIED, *, about: Subject | None = RUN, stopped: bool = False
) -> Past:
    trust = verified_report().trust
    when = datetime(2026, 11, 25, tzinfo=UTC)
    return Past(Path("x.result"), when, path, None, outcome, outcome.value, 60, 60, None, trust, about, stopped)


REPLAY = Replay("cpu", (), None, 0.99, 0.01, "", "", 20, 60)


def test_what_is_noted_is_there_on_another_day(tmp_path: Path, store: Path) -> None:
    cases = Cases(store)
    run, order = made(tmp_path, "run.cfoil"), made(tmp_path, "order.cfoil")
    cases.note(ORDER, FileKind.ORDER, order, title="Digits")
    cases.note(ORDER, FileKind.RUN, run, about=RUN)
    cases.wait(ORDER, run, REPLAY)
    cases.name_parties(ORDER, None, "17", "Client", "")
    (case,) = Cases(store).cases
    assert (case.title, case.parties, [file.kind for file in case.files]) == (
        "Digits",
        Parties("17", "Client"),
        [FileKind.RUN, FileKind.ORDER],
    )
    assert case.files[0].replay == REPLAY
    assert REPLAY.segments == SegmentRequest(confidence=0.99)
    assert Cases(store).order_file(ORDER) == order
    assert Cases(store).order_file(digest("other")) is None


def test_paths_are_absolute(tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path, "run.cfoil")
    monkeypatch.chdir(tmp_path)
    cases = Cases(store)
    cases.note(ORDER, FileKind.RUN, Path("run.cfoil"), about=RUN)
    cases.wait(ORDER, Path("run.cfoil"), REPLAY)
    (file,) = Cases(store).cases[0].files
    assert (file.file, file.replay) == (tmp_path / "run.cfoil", REPLAY)


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
def test_a_name_that_is_no_text_is_kept(tmp_path: Path, store: Path) -> None:
    run = Path(os.fsdecode(os.fsencode(tmp_path) + b"/r\xffn.cfoil"))
    run.touch()
    Cases(store).note(ORDER, FileKind.RUN, run, about=RUN)
    (file,) = Cases(store).cases[0].files
    assert file.file == run
    assert file.is_there


def test_a_file_stands_once_and_the_last_used_first(tmp_path: Path, store: Path) -> None:
    cases = Cases(store)
    first, second = made(tmp_path, "a.cfoil"), made(tmp_path, "b.cfoil")
    for path, root in ((first, "1"), (second, "2"), (first, "1")):
        cases.note(ORDER, FileKind.RUN, path, about=another(root))
    assert [file.file for file in cases.cases[0].files] == [first, second]
    cases.note(digest("another order"), FileKind.RUN, made(tmp_path, "c.cfoil"))
    assert [case.order for case in cases.cases] == [digest("another order").hex, ORDER.hex]


def test_a_run_that_moved_is_known_at_its_new_place_when_it_is_opened(tmp_path: Path, store: Path) -> None:
    cases = Cases(store)
    old = made(tmp_path, "old.cfoil")
    cases.note(ORDER, FileKind.RUN, old, about=RUN)
    cases.wait(ORDER, old, REPLAY)
    new = old.rename(tmp_path / "new.cfoil")
    cases.note(ORDER, FileKind.RUN, new, about=RUN)
    (file,) = cases.cases[0].files
    assert (file.file, file.replay) == (new, REPLAY)
    # A copy is a second file, and a run with another root never takes the place of this one.
    cases.note(ORDER, FileKind.RUN, made(tmp_path, "copy.cfoil"), about=RUN)
    new.unlink()
    cases.note(ORDER, FileKind.RUN, made(tmp_path, "other.cfoil"), about=another("other"))
    assert {file.file.name for file in cases.cases[0].files} == {"new.cfoil", "copy.cfoil", "other.cfoil"}


def test_what_lies_at_a_place_now_is_in_no_other_case(tmp_path: Path, store: Path) -> None:
    cases = Cases(store)
    run = made(tmp_path, "run.cfoil")
    cases.note(ORDER, FileKind.RUN, run, about=RUN)
    cases.wait(ORDER, run, REPLAY)
    cases.note(ORDER, FileKind.RUN, run, about=another("recorded anew"))
    (file,) = cases.cases[0].files
    assert (file.about, file.replay) == (another("recorded anew"), None)
    cases.note(digest("another order"), FileKind.RUN, run, about=RUN)
    assert [len(case.files) for case in cases.cases] == [1, 0]


def test_two_windows_do_not_take_each_others_cases_away(tmp_path: Path, store: Path) -> None:
    first, second = Cases(store), Cases(store)
    first.note(ORDER, FileKind.RUN, made(tmp_path, "a.cfoil"), about=RUN)
    second.note(digest("2"), FileKind.RUN, made(tmp_path, "b.cfoil"))
    first.refresh()
    assert first.cases == second.cases == Cases(store).cases
    assert len(first.cases) == 2


def test_cases_and_files_are_bounded(tmp_path: Path, store: Path) -> None:
    cases = Cases(store)
    file = made(tmp_path, "job.cfoil")
    store.parent.mkdir()
    many = [{"order": digest(str(n)).hex, "title": "", "parties": {}, "files": []} for n in range(MAX_CASES)]
    store.write_text(json.dumps({"format": 3, "cases": many}))
    cases.note(ORDER, FileKind.ORDER, file)
    assert len(cases.cases) == MAX_CASES
    assert cases.order_file(ORDER) == file
    full = [{"kind": "verdict", "path": f"/v/{n}"} for n in range(MAX_FILES)]
    store.write_text(json.dumps({"format": 3, "cases": [{**many[0], "files": full}]}))
    cases.note(digest("0"), FileKind.ORDER, file)
    assert len(cases.cases[0].files) == MAX_FILES
    assert cases.cases[0].files[0].file == file


def test_recent_files_exist_and_stand_once(tmp_path: Path, store: Path) -> None:
    cases = Cases(store)
    paths = [made(tmp_path, f"{number}.cfoil") for number in range(MAX_RECENT + 3)]
    for number, path in enumerate(paths):
        cases.note(digest(str(number)), FileKind.RUN, path)
    cases.note(digest("5"), FileKind.RUN, tmp_path / "." / "5.cfoil")
    assert len(cases.recent) == len(set(cases.recent)) == MAX_RECENT
    assert paths[5] in cases.recent
    paths[5].unlink()
    assert paths[5] not in cases.recent
    cases.forget_recent()
    assert cases.recent == ()
    assert len(cases.cases) == MAX_RECENT + 3


GOOD = {"order": "a" * 64, "title": "Digits", "parties": {}, "files": [{"kind": "run", "path": "/a/run.cfoil"}]}
WAITING = {
    "device": "cpu", "numbers": [], "count": None, "confidence": None, "bad_fraction": 0.01,
    "order": "", "data": "", "step": 0, "steps": 60,
}  # fmt: skip
JUNK = {
    "no JSON": b"{",
    "no text": b"\xff\xfe{}",
    "nested": b"[" * 200_000,
    "too large": b" " * (9 * 2**20),
    "another format": {"format": 1, "cases": []},
    "an unknown field": {"format": 3, "cases": [], "more": 1},
    "an unknown field of a case": {"format": 3, "cases": [{**GOOD, "more": 1}]},
    "no digest": {"format": 3, "cases": [{**GOOD, "order": "A" * 64}]},
    "two cases of one order": {"format": 3, "cases": [GOOD, GOOD]},
    "too many cases": {"format": 3, "cases": [{**GOOD, "order": f"{n:064x}"} for n in range(MAX_CASES + 1)]},
    "a title that cannot be seen": {"format": 3, "cases": [{**GOOD, "title": "a\u202eb"}]},
    "a kind that is none": {"format": 3, "cases": [{**GOOD, "files": [{"kind": "key", "path": "/a"}]}]},
    "a path that is not absolute": {"format": 3, "cases": [{**GOOD, "files": [{"kind": "run", "path": "a"}]}]},
    "a path with a NUL": {"format": 3, "cases": [{**GOOD, "files": [{"kind": "run", "path": "/a\0"}]}]},
    "a time that is none": {
        "format": 3,
        "cases": [{**GOOD, "files": [{"kind": "run", "path": "/a", "used": "yesterday"}]}],
    },
    "a replay that nobody can ask for": {
        "format": 3,
        "cases": [
            {
                **GOOD,
                "files": [{"kind": "run", "path": "/a", "replay": {**WAITING, "numbers": [1], "count": 3}}],
            }
        ],
    },
}


@pytest.mark.parametrize("name", JUNK)
def test_a_damaged_list_is_put_aside_and_that_is_said(name: str, store: Path, tmp_path: Path) -> None:
    junk = JUNK[name]
    data = junk if isinstance(junk, bytes) else json.dumps(junk).encode()
    store.parent.mkdir()
    for number in (1, 2):
        store.write_bytes(data)
        cases = Cases(store)
        aside = store.with_suffix(f".damaged-{number}.json")
        assert cases.cases == ()
        assert str(aside) in str(cases.problem)
        assert aside.read_bytes() == data
    cases.note(ORDER, FileKind.RUN, made(tmp_path, "run.cfoil"), about=RUN)
    assert len(Cases(store).cases) == 1


def test_the_good_one_is_read(store: Path) -> None:
    store.parent.mkdir()
    waiting = {"kind": "run", "path": "/a/run.cfoil", "replay": {**WAITING, "numbers": [1, 3]}}
    store.write_text(json.dumps({"format": 3, "cases": [{**GOOD, "files": [waiting]}]}))
    (case,) = Cases(store).cases
    assert case.files[0].replay is not None
    assert case.files[0].replay.segments == SegmentRequest(numbers=(1, 3))


def test_a_list_below_what_is_no_folder_says_so(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("a file")
    with pytest.raises(CounterfoilError, match="cannot be read: Not a directory"):
        Cases(tmp_path / "config" / FILE_NAME).note(ORDER, FileKind.RUN, tmp_path / "run.cfoil")


def test_a_list_that_cannot_be_read_is_left_as_it_is(store: Path, tmp_path: Path) -> None:
    store.mkdir(parents=True)  # a folder of its name: it can be neither read nor replaced
    cases = Cases(store)
    assert "cannot be read" in str(cases.problem)
    with pytest.raises(CounterfoilError, match="cannot be read"):
        cases.note(ORDER, FileKind.RUN, made(tmp_path, "run.cfoil"), about=RUN)
    assert store.is_dir()
    store.rmdir()
    cases.note(ORDER, FileKind.RUN, made(tmp_path, "run.cfoil"), about=RUN)
    assert len(Cases(store).cases) == 1


# Where a case stands


@pytest.fixture
def run(tmp_path: Path) -> CaseFile:
    return CaseFile(FileKind.RUN, str(made(tmp_path, "run.cfoil")), RUN)


def case_of(*files: CaseFile) -> Case:
    return Case(ORDER.hex, "Digits", Parties(), files)


def stands(*files: CaseFile, pasts: tuple[Past, ...] = (), running: Path | None = None) -> tuple[CaseState, NextStep]:
    found = standing_of(case_of(*files), pasts, running)
    assert found is not None
    return found.state, found.next


def test_each_state_has_one_next_step(run: CaseFile, tmp_path: Path) -> None:
    order = CaseFile(FileKind.ORDER, str(made(tmp_path, "order.cfoil")))
    verdict = CaseFile(FileKind.VERDICT, str(made(tmp_path, "v.json")), outcome="VERIFIED")
    capsule = CaseFile(FileKind.CAPSULE, str(made(tmp_path, "c.cfoil")))
    open_, signed = past_of(run.file), replace(past_of(run.file), verdict=tmp_path / "v.json")
    stopped = past_of(run.file, Outcome.INCONCLUSIVE, stopped=True)
    assert stands(order) == (CaseState.ORDERED, NextStep.OPEN)
    assert stands(order, run) == (CaseState.RECORDED, NextStep.REPLAY)
    assert stands(run, running=run.file) == (CaseState.REPLAYING, NextStep.SHOW_REPLAY)
    assert stands(changed(run, replay=REPLAY), pasts=(open_,)) == (CaseState.STOPPED, NextStep.RESUME)
    assert stands(run, pasts=(open_,)) == (CaseState.UNSIGNED, NextStep.SIGN)
    assert stands(run, pasts=(signed, open_)) == (CaseState.CONCLUDED, NextStep.SHOW_RESULT)
    assert stands(run, pasts=(stopped,)) == (CaseState.RECORDED, NextStep.REPLAY)
    found = replace(stopped, outcome=Outcome.DISPUTED)
    assert stands(run, pasts=(found,)) == (CaseState.UNSIGNED, NextStep.SIGN)
    assert stands(order, capsule) == (CaseState.GIVEN, NextStep.OPEN)
    assert stands(order, capsule, verdict) == (CaseState.CONCLUDED, NextStep.OPEN)
    assert standing_of(case_of(), ()) is None


def test_what_waits_goes_before_what_is_done(run: CaseFile, tmp_path: Path) -> None:
    signed = replace(past_of(run.file), verdict=tmp_path / "v.json")
    second = CaseFile(FileKind.RUN, str(made(tmp_path, "b.cfoil")), another("b"))
    assert stands(run, second, pasts=(signed,)) == (CaseState.RECORDED, NextStep.REPLAY)
    assert stands(run, changed(second, replay=REPLAY), pasts=(signed,)) == (CaseState.STOPPED, NextStep.RESUME)


def test_a_file_that_is_gone_is_to_be_found_but_a_result_is_shown_without_it(run: CaseFile) -> None:
    run.file.unlink()
    assert stands(run)[1] is NextStep.FIND
    assert stands(changed(run, replay=REPLAY))[1] is NextStep.FIND
    assert stands(run, pasts=(past_of(run.file),))[1] is NextStep.SIGN


def test_a_result_is_that_of_a_run_and_only_where_nothing_says_which_by_its_place(run: CaseFile) -> None:
    moved = changed(run, path="/elsewhere/run.cfoil")
    assert result_of(moved, (past_of(run.file),)) is not None
    unread = past_of(run.file, about=None)
    assert result_of(changed(run, about=None), (unread,)) is not None
    assert result_of(changed(moved, about=None), (unread,)) is None
    assert result_of(run, (unread,)) is None


@pytest.mark.parametrize("part", ["order", "run_root", "trainer_key"])
def test_a_run_that_differs_in_one_part_has_no_result(run: CaseFile, part: str) -> None:
    """Honest providers share the run root, and so has a re-signing under an order with other data."""
    value = digest("another").hex if part == "trainer_key" else digest("another")
    assert result_of(changed(run, about=changed(RUN, **{part: value})), (past_of(run.file),)) is None
    assert result_of(run, (past_of(run.file, about=changed(RUN, **{part: value})),)) is None


@pytest.mark.parametrize("part", ["order", "run_root", "trainer_key"])
def test_another_run_that_is_replayed_elsewhere_does_not_hold_this_one(tmp_path: Path, part: str) -> None:
    first, second = Replaying(tmp_path), Replaying(tmp_path)
    first.hold(RUN)
    assert second.elsewhere(RUN)
    value = digest("another").hex if part == "trainer_key" else digest("another")
    assert not second.elsewhere(changed(RUN, **{part: value}))
    first.release()
    assert not second.elsewhere(RUN)
