"""What was seen of a machine means: pure. Each fact has a name, a value, a state, and where it is wrong a remedy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from counterfoil.doctor.observations import Box, Broken, Display, FormInUse, Kernels, Loaded, Seen, SelfTest, System
from counterfoil_core.base.sentence import joined, say


class MachineState(Enum):
    """Whether a fact of a machine is as it should be."""

    FINE = "fine"
    NOTE = "note"
    """Something works otherwise than it might, or slower, and nothing comes out wrong."""
    WRONG = "wrong"
    """Something does not work."""


_MARKS = {MachineState.FINE: "", MachineState.NOTE: "  note", MachineState.WRONG: "  WRONG"}


@dataclass(frozen=True)
class MachineFact:
    """One line of the page of a machine."""

    section: str  #: Under which heading it stands.
    name: str  #: What it is about.
    value: str  #: What was found.
    state: MachineState = MachineState.FINE  #: Whether that is as it should be.
    remedy: str = ""  #: What to do; empty where there is nothing to do.


@dataclass(frozen=True)
class MachinePage:
    """All that was found of a machine."""

    facts: tuple[MachineFact, ...]  #: In the order in which they are read.

    @property
    def wrong(self) -> int:
        """How many facts are wrong."""
        return sum(fact.state is MachineState.WRONG for fact in self.facts)

    @property
    def summary(self) -> str:
        """What is wrong, in one sentence."""
        if not self.wrong:
            return say("Nothing is wrong with this machine.")
        return say("One thing is wrong.") if self.wrong == 1 else say("{0} things are wrong.", self.wrong)

    @property
    def text(self) -> str:
        """The page as plain lines in English, for a report."""
        lines: list[str] = []
        section = ""
        widest = max((len(fact.name) for fact in self.facts), default=0)
        for fact in self.facts:
            if fact.section != section:
                section = fact.section
                lines += ["", section] if lines else [section]
            lines.append(f"{_MARKS[fact.state]:<7}{fact.name:<{widest}}  {fact.value}".rstrip())
            if fact.remedy:
                lines.append(f"{'':<7}{'':<{widest}}  > {fact.remedy}")
        return "\n".join([*lines, "", self.summary])


LOW_ROOM = 2**30
"""Bytes of room in a folder below which it is said."""
LOW_MEMORY = 2**31
"""The same of memory: a replay loads about a gigabyte before it computes."""
PYTHONS = (3, 11), (3, 13)
"""Lowest and highest version of Python that is supported."""
_REINSTALL = say("Install Counterfoil again, in an environment of its own.")
_GIGABYTE = 2**30


def facts_of(seen: Iterable[Seen]) -> tuple[MachineFact, ...]:
    """Make the page of what was seen, in the order of its sections."""
    facts = [fact for each in seen for fact in _facts(each)]
    return tuple(sorted(facts, key=lambda fact: _ORDER.index(fact.section)))


def _facts(seen: Seen) -> Iterator[MachineFact]:
    match seen:
        case System():
            yield from _system(seen)
        case Box():
            yield _box(seen)
        case Loaded():
            yield from _loaded(seen)
        case Kernels():
            yield _kernels(seen)
        case FormInUse():
            yield MachineFact(_FORMS, joined(seen.device, seen.what, between=": "), seen.form)
        case SelfTest():
            yield _tested(seen)
        case Display():
            yield from _display(seen)
        case Broken():
            yield _broken(seen)


_VERSIONS, _SYSTEM, _COMPUTING = say("Versions"), say("Machine"), say("Computing")
_SANDBOX, _FOLDERS, _FORMS = say("Sandbox"), say("Folders"), say("Forms in use")
_TESTS, _DISPLAY = say("Self-test"), say("Display")
_ORDER = (_VERSIONS, _SYSTEM, _SANDBOX, _FOLDERS, _COMPUTING, _FORMS, _TESTS, _DISPLAY)


def _system(seen: System) -> Iterator[MachineFact]:
    yield MachineFact(_VERSIONS, "Counterfoil", seen.version)
    yield _python(seen)
    for package in seen.packages:
        of_the_window = package.name in ("PySide6-Essentials", "pyqtgraph", "segno")
        if package.version:
            yield MachineFact(_VERSIONS, package.name, package.version)
        elif of_the_window:
            yield MachineFact(
                _VERSIONS, package.name, say("not installed"), MachineState.NOTE,
                say("The command line works without it. For the window: pip install 'counterfoil[gui]'"),
            )  # fmt: skip
        else:
            yield MachineFact(_VERSIONS, package.name, say("not installed"), MachineState.WRONG, _REINSTALL)
    yield _installation(seen)
    yield MachineFact(_SYSTEM, say("System"), seen.platform)
    yield _name(seen)
    if seen.processors is not None:
        yield MachineFact(_SYSTEM, say("Processors"), str(seen.processors))
    yield _memory(seen)
    for name, value in seen.variables:
        yield _variable(name, value)
    for folder in seen.folders:
        if not folder.writable:
            where = folder.path or say("no place for it is known")
            yield MachineFact(
                _FOLDERS, folder.what, say("{0}: cannot be written to", where), MachineState.WRONG,
                say("Give yourself the right to write there, or set HOME or TMPDIR to a folder where you may."),
            )  # fmt: skip
        elif folder.free is not None and folder.free < LOW_ROOM:
            yield MachineFact(
                _FOLDERS, folder.what, say("{0}: {1:.2f} GiB of room", folder.path, folder.free / _GIGABYTE),
                MachineState.WRONG, say("Make room on that disk."),
            )  # fmt: skip
        else:
            yield MachineFact(_FOLDERS, folder.what, folder.path)


def _python(seen: System) -> MachineFact:
    version = ".".join(map(str, seen.python))
    lowest, highest = PYTHONS
    if lowest <= seen.python[:2] <= highest and seen.bits == 64:
        return MachineFact(_VERSIONS, "Python", version)
    return MachineFact(
        _VERSIONS, "Python", say("{0}, {1} bits", version, seen.bits), MachineState.WRONG,
        say("Use a 64-bit Python {0} to {1}.", ".".join(map(str, lowest)), ".".join(map(str, highest))),
    )  # fmt: skip


def _installation(seen: System) -> MachineFact:
    name = say("Installed files")
    if seen.not_compared:
        return MachineFact(_VERSIONS, name, say("not compared: {0}", seen.not_compared))
    if not seen.differing:
        return MachineFact(_VERSIONS, name, say("all {0} are as RECORD says", seen.installed))
    few = ", ".join(seen.differing[:3])
    return MachineFact(
        _VERSIONS, name, say("{0} are not as RECORD says: {1}", len(seen.differing), few), MachineState.WRONG,
        joined(_REINSTALL, say("All of them: counterfoil --version --verbose")),
    )  # fmt: skip


def _name(seen: System) -> MachineFact:
    what = say("Name of this machine")
    if not seen.nameless:
        return MachineFact(_SYSTEM, what, seen.name)
    return MachineFact(
        _SYSTEM, what, say("{0}: no address is found by this name ({1})", seen.name, seen.nameless), MachineState.NOTE,
        say(
            "Ranks that torchrun starts wait for this name until they fail. On one machine give torchrun --standalone "
            "--local-addr 127.0.0.1; on several each one's address as --local-addr, or let /etc/hosts say it."
        ),
    )  # fmt: skip


def _memory(seen: System) -> MachineFact:
    name = say("Memory")
    if seen.memory is None:
        return MachineFact(_SYSTEM, name, say("not known"), MachineState.NOTE)
    total = seen.memory / _GIGABYTE
    if seen.available is None:
        return MachineFact(_SYSTEM, name, say("{0:.1f} GiB", total))
    value = say("{0:.1f} GiB, of which {1:.1f} can be taken", total, seen.available / _GIGABYTE)
    if seen.available >= LOW_MEMORY:
        return MachineFact(_SYSTEM, name, value)
    return MachineFact(
        _SYSTEM, name, value, MachineState.NOTE,
        say("A replay of the smallest run takes about 1 GiB. Close other programs before you start one."),
    )  # fmt: skip


_SLOW = {
    "NUMBA_DISABLE_JIT": say("Nothing is compiled, so that everything takes a hundred times as long. Unset it."),
    "NUMBA_BOUNDSCHECK": say("Every index is checked, which takes longer. Unset it unless you look for a fault."),
    "TRITON_INTERPRET": say("Kernels for CUDA are interpreted, which takes far longer. Unset it."),
    "COUNTERFOIL_SANDBOX": say("What computes for a stranger has no box. Unset it, unless you trust every file."),
}


def _variable(name: str, value: str) -> MachineFact:
    remedy = _SLOW.get(name, "")
    if name in ("NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK", "TRITON_INTERPRET") and value in ("", "0"):
        remedy = ""
    if name == "COUNTERFOIL_SANDBOX" and value != "off":
        remedy = ""
    return MachineFact(_SYSTEM, name, value, MachineState.NOTE if remedy else MachineState.FINE, remedy)


def _box(seen: Box) -> MachineFact:
    name = say("Box around a replay")
    closed, open_for = ", ".join(seen.features), "; ".join(seen.missing)
    if not seen.missing:
        return MachineFact(_SANDBOX, name, say("closes, with {0}", closed))
    remedy = say(
        "Use Linux 6.7 or later with Landlock and seccomp; in a container let it use both. Until then open runs of "
        "strangers on a machine that has nothing else on it."
    )
    if not seen.features:
        return MachineFact(_SANDBOX, name, say("stays open: {0}", open_for), MachineState.NOTE, remedy)
    return MachineFact(
        _SANDBOX, name, say("closes in part, with {0}; {1}", closed, open_for), MachineState.NOTE, remedy
    )


def _loaded(seen: Loaded) -> Iterator[MachineFact]:
    yield MachineFact(_COMPUTING, say("Processor"), seen.processor)
    yield MachineFact(_COMPUTING, say("Instruction sets"), ", ".join(seen.instructions) or say("none that are used"))
    yield MachineFact(
        _COMPUTING, say("torch computes with"), say("{0}; threads of an operator: {1}", seen.capability, seen.threads)
    )
    for device in seen.devices:
        yield MachineFact(_COMPUTING, device.name, joined(device.title, device.float64_note, between="; "))


def _kernels(seen: Kernels) -> MachineFact:
    name = say("Compiled kernels")
    if not seen.folder:
        return MachineFact(
            _FOLDERS, name, say("cannot be kept, so that every process compiles what it needs"), MachineState.WRONG,
            say("Set NUMBA_CACHE_DIR to a folder where you may write."),
        )  # fmt: skip
    if seen.kept == seen.modules:
        return MachineFact(_FOLDERS, name, seen.folder)
    return MachineFact(
        _FOLDERS, name, say("{0}: {1} of {2} modules are compiled", seen.folder, seen.kept, seen.modules),
        MachineState.NOTE, say("The first audit compiles the rest. To have it done now: counterfoil doctor --compile"),
    )  # fmt: skip


def _tested(seen: SelfTest) -> MachineFact:
    name = joined(seen.device, seen.profile, between=": ")
    if not seen.wrong:
        return MachineFact(_TESTS, name, say("known answers came out right in {0:.1f} s", seen.seconds))
    return MachineFact(_TESTS, name, seen.wrong, MachineState.WRONG, seen.remedy or _REINSTALL)


def _display(seen: Display) -> Iterator[MachineFact]:
    yield MachineFact(_DISPLAY, "Qt", joined(seen.qt, seen.platform, between=", "))
    if not seen.screens:
        yield MachineFact(_DISPLAY, say("Screens"), say("none"), MachineState.NOTE)
    for number, screen in enumerate(seen.screens, 1):
        yield MachineFact(_DISPLAY, say("Screen {0}", number), screen)


_PARTS = {
    "torch": (_COMPUTING, MachineState.WRONG),
    "numba": (_COMPUTING, MachineState.WRONG),
    "kernels": (_COMPUTING, MachineState.WRONG),
    "sandbox": (_SANDBOX, MachineState.WRONG),
    # Many machines have none: the command line works there.
    "display": (_DISPLAY, MachineState.NOTE),
}


def _broken(seen: Broken) -> MachineFact:
    section, state = _PARTS[seen.part]
    remedy = seen.remedy or (
        _REINSTALL if section is not _DISPLAY
        else say("The command line works without a display. For the window: pip install 'counterfoil[gui]'")
    )  # fmt: skip
    value = say("is not installed") if seen.missing and section is _COMPUTING else say("does not work: {0}", seen.why)
    names = {"kernels": say("Kernels"), "sandbox": say("Box around a replay"), "display": say("Window")}
    return MachineFact(section, names.get(seen.part, seen.part), value, state, remedy)
