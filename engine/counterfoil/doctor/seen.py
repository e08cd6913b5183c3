"""What was seen of a machine, before anybody judges it: plain values, which processes send each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from counterfoil.arithmetic.compute.listing import Device
from counterfoil.talk.port import Port


@dataclass(frozen=True)
class Package:
    """A package that Counterfoil runs on.

    Attributes:
        name: Its name.
        version: Which version is installed; empty where none is.
    """

    name: str
    version: str


@dataclass(frozen=True)
class Folder:
    """A folder that Counterfoil writes to.

    Attributes:
        what: What it is for.
        path: Where it is; empty where nobody knows.
        writable: Whether a file can be made in it, or the folder itself where it is not there yet.
        free: Bytes of room that are left; None where the system does not say.
    """

    what: str
    path: str
    writable: bool
    free: int | None


@dataclass(frozen=True)
class System:
    """What is known without loading anything.

    Attributes:
        version: Counterfoil's.
        python: Python's, as numbers.
        platform: System and processor, in words.
        name: This machine's own name, by which torchrun tells others where it is.
        nameless: Why no address is found by that name; empty where one is.
        bits: Of a pointer.
        processors: How many processors this process may use; None where the system does not say.
        memory: Bytes of memory; None where the system does not say.
        available: Bytes that can be taken, swap included; None where the system does not say.
        packages: What it runs on.
        folders: Where it writes.
        installed: How many files were compared with RECORD.
        differing: Files that are not as RECORD says.
        not_compared: Why they were not compared; empty where they were.
        variables: Environment variables that change how it works, with their values.
    """

    version: str
    python: tuple[int, int, int]
    platform: str
    name: str
    nameless: str
    bits: int
    processors: int | None
    memory: int | None
    available: int | None
    packages: tuple[Package, ...]
    folders: tuple[Folder, ...]
    installed: int
    differing: tuple[str, ...]
    not_compared: str
    variables: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Box:
    """How far a box around a process closes.

    Attributes:
        features: What of the kernel closes it.
        missing: What does not, and why.
    """

    features: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Loaded:
    """What computes, loaded.

    Attributes:
        processor: The processor, as LLVM names it.
        instructions: Its instruction sets that something here depends on, as LLVM names them.
        capability: What torch was told that the processor has.
        threads: Threads of an operator on the CPU.
        devices: The devices.
    """

    processor: str
    instructions: tuple[str, ...]
    capability: str
    threads: int
    devices: tuple[Device, ...]


@dataclass(frozen=True)
class Kernels:
    """Where compiled kernels are kept.

    Attributes:
        folder: The folder; empty where they live in memory only.
        kept: Of how many modules something is kept.
        modules: How many modules have kernels.
    """

    folder: str
    kept: int
    modules: int


@dataclass(frozen=True)
class FormInUse:
    """In which form something is computed on a device.

    Attributes:
        device: The device; empty where it is about none.
        what: What is computed.
        form: The form.
    """

    device: str
    what: str
    form: str


@dataclass(frozen=True)
class SelfTest:
    """What became of the self-test of a profile on a device.

    Attributes:
        device: The device.
        profile: Name of the profile.
        seconds: How long it took.
        wrong: What came out wrong; empty where nothing did.
        remedy: What to do about it.
    """

    device: str
    profile: str
    seconds: float
    wrong: str = ""
    remedy: str = ""


@dataclass(frozen=True)
class Display:
    """What the window would be shown on.

    Attributes:
        qt: Qt's version.
        platform: Qt's platform plugin.
        screens: Each screen in words.
    """

    qt: str
    platform: str
    screens: tuple[str, ...]


@dataclass(frozen=True)
class Broken:
    """Something that could not be looked at, or that does not work.

    Attributes:
        part: What: ``torch``, ``numba``, ``kernels``, ``sandbox`` or ``display``.
        why: Why.
        remedy: What to do, where that is known.
        missing: Whether it is just not there.
    """

    part: str
    why: str
    remedy: str = ""
    missing: bool = False


Seen = System | Box | Loaded | Kernels | FormInUse | SelfTest | Display | Broken


def look(looking: Callable[[], Iterator[Seen]]) -> Iterator[Seen]:
    """Look at a part of this machine, and say what is seen."""
    return looking()


LOOKS = Port[Callable[[], Iterator[Seen]]](look, given="looking")
"""What a process may be asked that looks at a part."""
