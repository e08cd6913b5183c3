"""A short fuzzing campaign, and controls that a campaign finds what it looks for; ``python -m tests.fuzz`` is long."""

from __future__ import annotations

import gc
import os
import random
import signal
import time
from collections.abc import Callable

import pytest

from counterfoil.talk.table import PROGRAMS
from counterfoil_core.base.errors import BundleError
from fuzz import campaign
from fuzz.__main__ import campaign as full_campaign
from fuzz.campaign import run
from fuzz.guided import Choices
from fuzz.targets import Corpus, Target

CASES, FILE_CASES = 40, 8
FILES = (
    *("run", "run that lies elsewhere", "sealed capsule", "sealing key", "public sealing key", "facts"),
    *("statement on rules", "rules", "statement on rows", "rows", "proof of rows", "note", "withdrawal, reply"),
    *("verdict, adjudication, verified", "certificates beside a verdict", "root certificates", "ledger", "hand-over"),
    *("list of revoked keys", "keys that are trusted", "tree heads, inspected", "witness's log", "list of a release"),
    *("comparison beside an order", "weights, verified", "table of data", "settings of the window"),
)
NAMES = (
    *("reader", "bundle", "data file", "capsule", "weights", "manifest", "program", "program, computed"),
    *("log codec, CNN", "log codec, GPT", "log codec, turns"),
    *(
        f"{what}, signed by {who}"
        for what in ("claim", "verdict", "comparison", "heads")
        for who in ("nobody", "a stranger")
    ),
    *(f"{what}, signed by its own key" for what in ("claim", "verdict", "comparison", "heads")),
    *("public key", "private key", "locked key"),
    *("step file", "progress", "part of an audit"),
    *(f"{program.name}, {how}" for program in PROGRAMS for how in ("told", "says")),
    *(f"file: {name}" for name in FILES),
)


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Target]:
    found = {target.name: target for target in Corpus(tmp_path_factory.mktemp("corpus")).targets()}
    # Every campaign ends with a look for garbage; what the process held before is none.
    gc.collect()
    gc.freeze()
    return found


def test_every_target_is_named_here(targets: dict[str, Target]) -> None:
    assert set(targets) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_some_cases(targets: dict[str, Target], name: str) -> None:
    cases = FILE_CASES if name.startswith("file: ") else CASES
    tally = run(targets[name], seed=2, first=0, count=cases)
    assert tally.failures == []
    assert tally.cases == cases
    # Many changes are noticed, or what is tried would prove nothing.
    assert tally.outcomes["refused"] > cases / 3


@pytest.mark.slow
def test_ten_thousand_files(targets: dict[str, Target]) -> None:
    files = [targets[f"file: {name}"] for name in FILES]
    each = -(-10_000 // len(files))
    tallies = full_campaign(files, seed=1, cases=each, processes=os.cpu_count() or 1)
    assert [story for tally in tallies.values() for story in tally.failures] == []
    assert sum(tally.cases for tally in tallies.values()) >= 10_000


def bad_target(read: Callable[[bytes], object], *, bound: bool = True) -> Target:
    """A target of one seed, which is changed in its last byte."""
    return Target(
        "bad", (b"seed",), lambda data, chance: data[:-1] + chance.randbytes(1), read, bound, says={b"seed": 1}
    )


def refuse(data: bytes) -> object:
    raise BundleError("Refused.")


def test_a_command_that_ends_in_a_bug_is_found(targets: dict[str, Target], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz.files.asked", lambda *_: (4, "ERROR  Counterfoil failed. This is a bug."))
    tally = run(targets["file: facts"], 1, 0, 2)
    assert tally.outcomes["failed"] == 2
    assert "This is a bug" in tally.failures[0]


def test_an_exception_of_others_is_found() -> None:
    tally = run(bad_target(lambda data: int(data)), 1, 0, 3)
    assert tally.outcomes["failed"] == 3
    assert "ValueError" in tally.failures[0]


def test_what_was_not_signed_is_found_where_it_is_accepted() -> None:
    assert run(bad_target(lambda data: 2), 1, 0, 1).outcomes["failed"] == 1
    assert run(bad_target(lambda data: 2, bound=False), 1, 0, 1).outcomes["other"] == 1
    assert run(bad_target(lambda data: 1), 1, 0, 1).outcomes["same"] == 1
    assert run(bad_target(refuse), 1, 0, 1).outcomes["refused"] == 1


def test_a_slow_case_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(data: bytes) -> object:
        end = time.process_time() + 0.05
        while time.process_time() < end:
            pass
        return 1

    assert run(bad_target(read), 1, 0, 1).failures == []
    monkeypatch.setattr(campaign, "SLOWEST_SECONDS", 0.01)
    assert "took" in run(bad_target(read), 1, 0, 1).failures[0]


def test_a_case_that_takes_much_memory_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "_most_memory", iter([0, *[2**30] * 9]).__next__)
    assert "took 1024 MiB" in run(bad_target(refuse), 1, 0, 1).failures[0]


@pytest.mark.parametrize("way", ["crash", pytest.param("hang", marks=pytest.mark.slow)])
def test_a_crash_and_a_hang_are_found_and_the_rest_is_tried(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if way == "hang":
        monkeypatch.setattr("fuzz.__main__.HANG_SECONDS", 3.0)

    def read(data: bytes) -> object:
        if data[-1] < 128:
            if way == "crash":
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(60)
        raise BundleError("Refused.")

    cases = 4 if way == "hang" else 8
    target = bad_target(read)
    bad = sum(campaign.case(target, 1, number)[1][-1] < 128 for number in range(cases))
    assert 0 < bad < cases
    tally = full_campaign([target], seed=1, cases=cases, processes=2)["bad"]
    assert (tally.outcomes["failed"], tally.cases) == (bad, cases), tally.failures
    assert all("exit code -" in story for story in tally.failures)


def test_choices_follow_the_bytes() -> None:
    """Control of the guided campaign: other bytes, other choices; the same bytes, the same."""
    first, second = (Choices(bytes([number] * 40)) for number in (3, 200))
    drawn = [first.randrange(1000) for _ in range(5)]
    assert drawn != [second.randrange(1000) for _ in range(5)]
    again = Choices(bytes([3] * 40))
    assert drawn == [again.randrange(1000) for _ in range(5)]
    assert isinstance(again, random.Random)
    assert Choices(b"").choice("abc") == "a"
