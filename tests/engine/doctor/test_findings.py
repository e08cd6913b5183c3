"""What was seen of a machine is judged rightly, and each thing that is wrong has its remedy."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from counterfoil import Device, MachineFact, MachinePage, MachineState
from counterfoil.doctor.findings import facts_of
from counterfoil.doctor.observations import (
    Box,
    Broken,
    Display,
    Folder,
    FormInUse,
    Kernels,
    Loaded,
    Package,
    Seen,
    SelfTest,
    System,
)
from counterfoil.talk.messages import decode, encode

SYSTEM = System(
    version="1.0",
    python=(3, 12, 1),
    platform="Linux",
    name="here",
    nameless="",
    bits=64,
    processors=4,
    memory=2**34,
    available=2**33,
    packages=(Package("torch", "2.13"), Package("PySide6-Essentials", "6.10")),
    folders=(Folder("Temporary files", "/tmp", True, 2**40),),
    installed=12,
    differing=(),
    not_compared="",
    variables=(),
)
LOADED = Loaded("znver4", ("avx2",), "AVX2", 4, (Device("cpu", "x86_64", "float64 at half the rate of float32"),))
SOUND: tuple[Seen, ...] = (
    SYSTEM,
    Box(("landlock-v7", "seccomp"), ()),
    LOADED,
    Kernels("/cache", 21, 21),
    FormInUse("cpu", "Exact products, 20 bits", "matrices in karatsuba"),
    SelfTest("cpu", "float64-24", 0.5),
    Display("6.10", "xcb", ("DP-1: 1920 x 1080",)),
)
WRONG = {
    "python that is too old": replace(SYSTEM, python=(3, 10, 0)),
    "python that is too new": replace(SYSTEM, python=(3, 14, 0)),
    "python of 32 bits": replace(SYSTEM, bits=32),
    "a package is missing": replace(SYSTEM, packages=(Package("h5py", ""),)),
    "a changed file": replace(SYSTEM, differing=("counterfoil_core/hearing/session.py",)),
    "a folder that takes no file": replace(SYSTEM, folders=(Folder("Temporary files", "/tmp", False, 2**40),)),
    "a folder that nobody knows": replace(SYSTEM, folders=(Folder("Cache of this user", "", False, None),)),
    "a full disk": replace(SYSTEM, folders=(Folder("Temporary files", "/tmp", True, 2**20),)),
    "kernels that are kept nowhere": Kernels("", 0, 21),
    "a failed self-test": SelfTest("cpu", "exact-20", 0.5, "This machine computes exact products wrongly."),
    "torch is missing": Broken("torch", "ModuleNotFoundError: No module named 'torch'", missing=True),
    "torch that does not load": Broken("torch", "OSError: libtorch_cpu.so: undefined symbol"),
    "numba that does not load": Broken("numba", "ImportError: Numba needs NumPy 2.3 or less"),
    "a process that was killed": Broken("kernels", "its process was ended by signal 4"),
}
NOTED = {
    "no window is installed": replace(SYSTEM, packages=(Package("pyqtgraph", ""),)),
    "little memory": replace(SYSTEM, available=2**29),
    "memory that nobody knows": replace(SYSTEM, memory=None),
    "no address is found by this machine's own name": replace(SYSTEM, nameless="Name or service not known"),
    "the sandbox switched off": replace(SYSTEM, variables=(("COUNTERFOIL_SANDBOX", "off"),)),
    "kernels that are not compiled": replace(SYSTEM, variables=(("NUMBA_DISABLE_JIT", "1"),)),
    "a box that stays open": Box((), ("this system has neither Landlock nor seccomp",)),
    "a box that closes in part": Box(("seccomp",), ("landlock: Operation not permitted",)),
    "kernels that are compiled later": Kernels("/cache", 3, 21),
    "no display": Broken("display", "this session has no display"),
    "a display without a screen": Display("6.10", "offscreen", ()),
}


def of(*seen: Seen) -> list[MachineFact]:
    return list(facts_of(seen))


def test_nothing_is_wrong_with_a_sound_machine() -> None:
    page = MachinePage(facts_of(SOUND))
    assert {fact.state for fact in page.facts} == {MachineState.FINE}
    assert not any(fact.remedy for fact in page.facts)
    assert page.wrong == 0
    assert page.summary == "Nothing is wrong with this machine."


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_once_and_has_a_remedy(case: str) -> None:
    bad = [fact for fact in of(WRONG[case]) if fact.state is not MachineState.FINE]
    assert [fact.state for fact in bad] == [MachineState.WRONG]
    assert bad[0].remedy.endswith((".", "'", "--verbose"))
    assert MachinePage(tuple(bad)).summary == "One thing is wrong."


@pytest.mark.parametrize("case", NOTED)
def test_what_works_otherwise_is_a_note_and_nothing_is_wrong(case: str) -> None:
    assert [fact.state for fact in of(NOTED[case]) if fact.state is not MachineState.FINE] == [MachineState.NOTE]


@pytest.mark.parametrize(
    "variable",
    [("NUMBA_DISABLE_JIT", "0"), ("COUNTERFOIL_SANDBOX", "on"), ("OMP_NUM_THREADS", "1"), ("QT_QPA_PLATFORM", "xcb")],
)
def test_a_variable_that_changes_nothing_bad_is_fine(variable: tuple[str, str]) -> None:
    facts = of(replace(SYSTEM, variables=(variable,)))
    assert (variable[0], variable[1], MachineState.FINE) in [(fact.name, fact.value, fact.state) for fact in facts]


def test_sections_stand_together_in_whatever_order_they_were_seen() -> None:
    sections = [fact.section for fact in of(*reversed(SOUND))]
    assert sections == [fact.section for fact in of(*SOUND)]
    assert sum(here != before for before, here in itertools.pairwise(sections)) == len(set(sections)) - 1


def test_the_page_as_text_has_every_fact_and_every_remedy() -> None:
    page = MachinePage(facts_of((*SOUND, *WRONG.values())))
    for fact in page.facts:
        assert fact.name in page.text
        assert fact.value in page.text
        assert fact.remedy in page.text
    assert page.text.count("WRONG") == page.wrong
    assert page.text.endswith(f"{page.wrong} things are wrong.")


@pytest.mark.parametrize("seen", [*SOUND, *WRONG.values(), *NOTED.values()])
def test_what_was_seen_comes_through_a_pipe_as_it_was(seen: Seen) -> None:
    assert decode(encode(seen), Seen) == seen
