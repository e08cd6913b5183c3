"""Sealed capsules as the commands use them: for whom, how they are opened, and what one that is not hands out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.cli import terminal
from counterfoil.cli.terminal import markup
from counterfoil.signer.client import Passphrase
from counterfoil_core.base.errors import GivenFileError
from counterfoil_core.base.sentence import say
from counterfoil_core.remote.address import Address

if TYPE_CHECKING:
    from counterfoil.audit.values.capsulecontents import HandedOut

MEGABYTE = 10**6


def judges_of(keys: Sequence[Path] | None, capsule: Path | None) -> tuple[str, ...]:
    """Return the judges for whom a capsule is to be sealed, before work that may take hours; none for nobody.

    Args:
        keys: What ``--seal-for`` was given.
        capsule: Where the capsule goes.

    Raises:
        BadParameter: There is no capsule to seal.
        KeyFileError: A file is no public sealing key.
        CounterfoilError: The library is not installed.
    """
    if not keys:
        return ()
    if capsule is None:
        raise typer.BadParameter("--seal-for belongs to --capsule: it is the capsule that is sealed.")
    from counterfoil.sealed.recipients import read_recipients
    from counterfoil.sealed.seal import check_recipients

    judges = read_recipients(keys)
    check_recipients(judges)
    return judges


def write_for(judges: Sequence[str], path: Path, write: Callable[[Path], None]) -> None:
    """Write a capsule: as it is, or sealed for judges, and then it never lies on the disk as it is.

    Args:
        judges: Their public sealing keys; none leaves it as it is.
        path: Where it goes.
        write: Writes it as it is to a path.
    """
    if not judges:
        write(path)
        return
    from counterfoil.sealed.unseal import private_folder

    with private_folder() as folder:
        write(folder / "dispute.cfoil")
        seal(folder / "dispute.cfoil", path, judges)


def seal(source: Path, target: Path, judges: Sequence[str]) -> None:
    """Seal a file, and show how far it is."""
    from counterfoil.sealed.seal import seal_file

    with cancel_on_interrupt() as cancel, terminal.progress("Seal", terminal.console(stderr=True), "MB") as bar:
        bar.start(source.stat().st_size // MEGABYTE)
        seal_file(source, target, judges, cancel=cancel, progress=lambda done, _: bar.update(done / MEGABYTE))


def show_capsule(console: Console, path: Path, handed: HandedOut | None, judges: Sequence[str]) -> None:
    """Say that a capsule was written, and what whoever gets it can read in it."""
    if judges:
        who = "one judge" if len(judges) == 1 else f"{len(judges)} judges"
        console.print(
            f"Wrote {markup(str(path))}, sealed for {who}: 'counterfoil adjudicate --identity' opens it. Nobody else "
            "can, you neither.",
            soft_wrap=True,
        )
        return
    console.print(f"Wrote {markup(str(path))}. Anybody can check it with 'counterfoil adjudicate'.")
    if handed is not None:
        show_handed(console, handed)


def show_handed(console: Console, handed: HandedOut) -> None:
    """Say what whoever gets a capsule can read in it, and how to seal it."""
    said = " ".join(markup(sentence) for sentence in handed.sentences)
    console.print(
        f"[bold yellow]NOTE[/]  {said} To let named judges alone open it, give their public sealing keys with "
        "--seal-for.",
        soft_wrap=True,
    )


def with_judged_name(place: Path | Address) -> Path:
    """Return a path with the name under which a capsule is judged that may be sealed."""
    from counterfoil.sealed.agefile import is_sealed, name_within

    sealed = isinstance(place, Address) or is_sealed(place)
    return Path(name_within(place.name) if sealed else place.name)


@contextmanager
def open_capsule(path: Path, identity: Path | None, passphrase: Passphrase | None) -> Iterator[Path]:
    """Provide a capsule that can be read: as it was given, or opened for as long as the block runs.

    Args:
        path: The capsule, sealed or not.
        identity: The judge's private sealing key; None where none was given.
        passphrase: Where its passphrase comes from; None where no key was given.

    Raises:
        GivenFileError: It is sealed, and no key was given; or it is damaged.
        KeyFileError: The key does not open it, or cannot be used.
    """
    from counterfoil.sealed.agefile import is_sealed

    if not is_sealed(path):
        if identity is not None:
            console = terminal.console(stderr=True)
            console.print(f"{markup(str(path))} is not sealed: whoever has it can read it.", soft_wrap=True)
        yield path
        return
    if identity is None or passphrase is None:
        raise GivenFileError(
            say("{0} is sealed for judges.", path.name),
            remedy=say("Give the private sealing key of one of them: --identity judge.key."),
        )
    from counterfoil.sealed.unseal import open_sealed

    with ExitStack() as stack:
        with cancel_on_interrupt() as cancel:
            plain = stack.enter_context(open_sealed(path, identity, passphrase, cancel, _showing))
        yield plain


@contextmanager
def _showing(size: int) -> Iterator[Callable[[int, int], None]]:
    """Show how far the opening is; begun when the passphrase was asked for."""
    with terminal.progress("Open", terminal.console(stderr=True), "MB") as bar:
        bar.start(size // MEGABYTE)
        yield lambda done, _: bar.update(done / MEGABYTE)
