"""What was seen of a machine, before anybody judges it: plain values, which processes send each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from counterfoil.arithmetic.compute.devicename import Device
from counterfoil.talk.port import Port


@dataclass(frozen=True)
class Package:
    """A package that Counterfoil runs on."""

    name: str  #: Its name.
    version: str  #: Which version is installed; empty where none is.


@dataclass(frozen=True)
class Folder:
    """A folder that Counterfoil writes to."""

    what: str  #: What it is for.
    path: str  #: Where it is; empty where nobody knows.
    writable: bool  #: Whether a file can be made in it, or the folder itself where it is not there yet.
    free: int | None  #: Bytes of room that are left; None where the system does not say.


@dataclass(frozen=True)
class System:
    """What is known without loading anything."""

    version: str  #: Counterfoil's.
    python: tuple[int, int, int]  #: Python's, as numbers.
    platform: str  #: System and processor, in words.
    name: str  #: This machine's own name, by which torchrun tells others where it is.
    nameless: str  #: Why no address is found by that name; empty where one is.
    bits: int  #: Of a pointer.
    processors: int | None  #: How many processors this process may use; None where the system does not say.
    memory: int | None  #: Bytes of memory; None where the system does not say.
    available: int | None  #: Bytes that can be taken, swap included; None where the system does not say.
    packages: tuple[Package, ...]  #: What it runs on.
    folders: tuple[Folder, ...]  #: Where it writes.
    installed: int  #: How many files were compared with RECORD.
    differing: tuple[str, ...]  #: Files that are not as RECORD says.
    not_compared: str  #: Why they were not compared; empty where they were.
    variables: tuple[tuple[str, str], ...]  #: Environment variables that change how it works, with their values.


@dataclass(frozen=True)
class Box:
    """How far a box around a process closes."""

    features: tuple[str, ...]  #: What of the kernel closes it.
    missing: tuple[str, ...]  #: What does not, and why.


@dataclass(frozen=True)
class Loaded:
    """What computes, loaded."""

    processor: str  #: The processor, as LLVM names it.
    instructions: tuple[str, ...]  #: Its instruction sets that something here depends on, as LLVM names them.
    capability: str  #: What torch was told that the processor has.
    threads: int  #: Threads of an operator on the CPU.
    devices: tuple[Device, ...]  #: The devices.


@dataclass(frozen=True)
class Kernels:
    """Where compiled kernels are kept."""

    folder: str  #: The folder; empty where they live in memory only.
    kept: int  #: Of how many modules something is kept.
    modules: int  #: How many modules have kernels.


@dataclass(frozen=True)
class FormInUse:
    """In which form something is computed on a device."""

    device: str  #: The device; empty where it is about none.
    what: str  #: What is computed.
    form: str  #: The form.


@dataclass(frozen=True)
class SelfTest:
    """What became of the self-test of a profile on a device."""

    device: str  #: The device.
    profile: str  #: Name of the profile.
    seconds: float  #: How long it took.
    wrong: str = ""  #: What came out wrong; empty where nothing did.
    remedy: str = ""  #: What to do about it.


@dataclass(frozen=True)
class Display:
    """What the window would be shown on."""

    qt: str  #: Qt's version.
    platform: str  #: Qt's platform plugin.
    screens: tuple[str, ...]  #: Each screen in words.


@dataclass(frozen=True)
class Broken:
    """Something that could not be looked at, or that does not work."""

    part: str  #: What: ``torch``, ``numba``, ``kernels``, ``sandbox`` or ``display``.
    why: str  #: Why.
    remedy: str = ""  #: What to do, where that is known.
    missing: bool = False  #: Whether it is just not there.


Seen = System | Box | Loaded | Kernels | FormInUse | SelfTest | Display | Broken


def look(looking: Callable[[], Iterator[Seen]]) -> Iterator[Seen]:
    """Look at a part of this machine, and say what is seen."""
    return looking()


LOOKS = Port[Callable[[], Iterator[Seen]]](look, given="looking")
"""What a process may be asked that looks at a part."""
