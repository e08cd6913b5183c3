"""No command writes over what it reads, or writes two things into one file; and no two commands write one file.

Every parameter of a command that is a path says by its role what happens there. Before a command computes anything,
its paths are compared, links and second names included, and what it will write is claimed.
"""

from __future__ import annotations

import functools
import inspect
import os
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.models import OptionInfo, ParameterInfo

from counterfoil.base.wholefiles import claim_file, same_file
from counterfoil.distributed.launch import launch
from counterfoil.sealed.recipients import recipients_path
from counterfoil_core.base.errors import FileWriteError
from counterfoil_core.remote.address import is_address
from counterfoil_core.signing.publickeys import public_path


def _itself(path: Path) -> tuple[Path, ...]:
    return (path,)


def _nothing(path: object) -> tuple[Path, ...]:
    return ()


@dataclass(frozen=True)
class PathRole:
    """What a command does with the path that a parameter names."""

    read: Callable[[Path], tuple[Path, ...]] = _nothing  #: The files that it reads, of the path that was given.
    written: Callable[[Path], tuple[Path, ...]] = _nothing  #: The files that it writes.
    claims: bool = True  #: Whether nobody else may write them while it runs; false for what has a lock of its own.
    within: bool = False  #: Whether what lies in a folder that is read is read too.
    may_be: str = ""  #: A parameter whose file it may replace, since that is what it is for.
    secret: bool = False  #: Whether it is a private key, which the signer reads and the command does not.
    beside: Callable[[Path], tuple[Path, ...]] = _nothing  #: What it looks for beside what it reads.
    listed: Callable[[Path], tuple[Path, ...]] = _nothing  #: The folders that it looks through for that.
    #: What it names where it is not given, by the other parameters.
    otherwise: Callable[[Mapping[str, Any]], tuple[Path, ...]] = _nothing
    #: The folders that it makes for what it writes, if they are not there.
    makes: Callable[[Path], tuple[Path, ...]] = _nothing
    #: The folders in which it makes, changes and removes files itself.
    into: Callable[[Path], tuple[Path, ...]] = _nothing


def _signed(path: Path) -> tuple[Path, ...]:
    return (path, path.with_name(f"{path.name}.unsigned"))  # where the signer fails, the statement is kept


def _weights(folder: Path) -> tuple[Path, ...]:
    return (folder / "model.safetensors",)


def _key_pair(path: Path) -> tuple[Path, ...]:
    # The public half of a key that signs, and that of one to seal for.
    return (path, public_path(path), recipients_path(path))


def _module(name: Path) -> tuple[Path, ...]:
    """The files that can hold a module; its name is that of ``--from``, MODULE:FUNCTION."""
    place = Path(*str(name).partition(":")[0].split("."))
    return (place.with_name(f"{place.name}.py"), place / "__init__.py") if place.name else ()


def _numbered(given: Path) -> tuple[Path, ...]:
    """The file of a share, given as NUMBER=FILE; nothing where it is not."""
    number, _, name = str(given).partition("=")
    return (Path(name),) if number.isdecimal() and name else ()


def _statements(verdict: Path) -> tuple[Path, ...]:
    from counterfoil.trust.afterwards import files_beside

    with suppress(OSError):  # whoever looks for them says so
        return files_beside(verdict)
    return ()


def _folder(path: Path) -> tuple[Path, ...]:
    return (path.parent,)


def _recording(run: Path) -> tuple[Path, ...]:
    from counterfoil.training.recordingfolder import recording_folder

    return (recording_folder(run),)


def _comparison(bundle: Path) -> tuple[Path, ...]:
    from counterfoil.signing.comparedsteps import comparison_path

    return (comparison_path(bundle),)


def _trust(_given: object) -> tuple[Path, ...]:
    from counterfoil.trust.folder import trust_home

    return (trust_home(),)


def _order(given: Mapping[str, Any]) -> tuple[Path, ...]:
    return (given["order"],)


READS = PathRole(read=_itself)
READS_BUNDLE = PathRole(read=_itself, beside=_comparison)
READS_VERDICT = PathRole(read=_itself, beside=_statements, listed=_folder)
READS_FOLDER = PathRole(read=_itself, within=True)
READS_RECORDING = PathRole(read=_itself, within=True, beside=_folder)
READS_TRUST = PathRole(read=_itself, within=True, otherwise=_trust)
READS_NUMBERED = PathRole(read=_numbered)
OPENS_KEY = PathRole(read=_itself, secret=True)
OPENS_NUMBERED_KEY = PathRole(read=_numbered, secret=True)
READS_MODULE = PathRole(read=_module)
WRITES = PathRole(written=_itself)
WRITES_SIGNED = PathRole(written=_signed)
WRITES_KEYS = PathRole(written=_key_pair)
WRITES_WEIGHTS = PathRole(written=_weights, makes=_folder)
WRITES_INTO = PathRole(written=_itself, claims=False, makes=_itself, into=_itself)
"""A folder, in which other files than those of the command are left alone."""
WRITES_LOG = PathRole(written=_itself, beside=_itself)
"""A file that grows, and that it goes on with."""
RECORDS = PathRole(written=_itself, makes=_recording, into=_recording)
"""A run, which is recorded in a folder beside it."""
KEEPS_PROGRESS = PathRole(written=_itself, claims=False)
SIGNS_AGAIN = PathRole(written=_itself, may_be="order", otherwise=_order)
ASKS_SERVER = PathRole()
"""The address of a server that is asked for something."""


@dataclass(frozen=True)
class NamedFile:
    """A file that a command reads or writes, and the parameter that names it."""

    parameter: str
    path: Path
    role: PathRole

    @property
    def reads(self) -> tuple[Path, ...]:
        """What is read there."""
        return self.role.read(self.path)

    @property
    def writes(self) -> tuple[Path, ...]:
        """What is written there."""
        return self.role.written(self.path)

    @property
    def boxed(self) -> tuple[Path, ...]:
        """What a command in a box reads there."""
        return () if self.role.secret else (*self.reads, *self.role.beside(self.path))

    @property
    def lists(self) -> tuple[Path, ...]:
        """The folders whose names a command in a box reads; one that is to be written must be empty."""
        return (*self.role.listed(self.path), *self.writes)


def check_files_apart(places: Sequence[NamedFile]) -> None:
    """Check that nothing is written over what is read, and that nothing is written twice.

    Raises:
        FileWriteError: Two parameters name one file: the same name, a link, or the same device and inode.
    """
    outputs = [(place, path) for place in places for path in place.writes]
    for number, (place, target) in enumerate(outputs):
        for other, second in outputs[:number]:
            if other is not place and same_file(target, second):
                raise FileWriteError(
                    f"{_both(other, place)} would both be written to {target}.",
                    remedy=f"Give another name with {place.parameter}. Nothing was written.",
                )
        for other in places:
            if _name(other.parameter) == place.role.may_be != "":
                continue
            for source in other.reads:
                if same_file(target, source) or (other.role.within and _lies_in(target, source)):
                    raise FileWriteError(
                        f"{place.parameter} would be written over what {other.parameter} names, {source}.",
                        remedy=f"Give another name with {place.parameter}. Nothing was written.",
                    )


@dataclass(frozen=True)
class Given:
    """What a command is given that says what it reads and writes."""

    places: tuple[NamedFile, ...]  #: The files that it names.
    address: str = ""  #: That of what it reads that lies elsewhere; empty where nothing does.
    server: str = ""  #: That of a server that it asks for something; empty where it asks none.
    device: str = ""  #: Where it computes; empty for nowhere.
    writes: bool = True  #: Whether this process writes; false where another writes for it.
    among_ranks: bool = False  #: Whether this process is one of several that compute together.


@contextmanager
def claims(given: Given) -> Iterator[None]:
    """Let nobody else write what a command writes while the block runs; raises FileWriteError where somebody does."""
    with ExitStack() as stack:
        for path in (path for place in given.places if place.role.claims for path in place.writes):
            if given.writes:
                stack.enter_context(claim_file(path))
        yield


def guard(
    command: Callable[..., None],
    writes: Callable[[], bool] | None = None,
    within: Callable[[Given], AbstractContextManager[None]] = claims,
) -> Callable[..., None]:
    """Return a command that first compares its paths, and runs within what claims what it will write.

    Args:
        command: The command.
        writes: Whether this process writes, of a command that ranks carry out together; None of any other.
        within: Claims, and may close a box around the process.
    """
    roles = _roles(command)

    @functools.wraps(command)
    def run(*args: Any, **arguments: Any) -> None:
        bound = inspect.signature(command).bind(*args, **arguments)
        bound.apply_defaults()
        named = bound.arguments
        places = [
            NamedFile(shown, path, role)
            for name, shown, role in roles
            for path in _paths(named.get(name)) or role.otherwise(named)
            if str(path)
        ]
        check_files_apart(places)
        texts = [(role, value) for name, _, role in roles if isinstance(value := named.get(name), str)]
        given = Given(
            tuple(places),
            next((text for role, text in texts if role is not ASKS_SERVER and is_address(text)), ""),
            next((text for role, text in texts if role is ASKS_SERVER), ""),
            str(named.get("device", "")),
            writes is None or writes(),
            writes is not None and launch() is not None,
        )
        with within(given):
            command(*args, **arguments)

    return run


def _roles(command: Callable[..., None]) -> list[tuple[str, str, PathRole]]:
    """The name of each parameter that is a path, what the user calls it, and its role."""
    found = []
    for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
        if typing.get_origin(parameter.annotation) is not typing.Annotated:
            continue
        _, *notes = typing.get_args(parameter.annotation)
        role = next((note for note in notes if isinstance(note, PathRole)), None)
        info = next((note for note in notes if isinstance(note, ParameterInfo)), None)
        if role is not None:
            found.append((name, _shown(name, info), role))
    return found


def _shown(name: str, info: ParameterInfo | None) -> str:
    if not isinstance(info, OptionInfo):
        return name.upper()
    # Inside Annotated typer takes the first name for a default, until it reads the signature.
    names = (info.default, *(info.param_decls or ()))
    given = [text for text in names if isinstance(text, str) and text.startswith("--")]
    return given[0] if given else f"--{name.replace('_', '-')}"


def _name(shown: str) -> str:
    return shown.lstrip("-").replace("-", "_").lower()


def _both(first: NamedFile, second: NamedFile) -> str:
    if first.parameter == second.parameter:
        return f"Two files of {first.parameter}"
    return f"{first.parameter} and {second.parameter}"


def _paths(value: object) -> Iterable[Path]:
    match value:
        case Path():
            return [value]
        case str():
            return [] if is_address(value) else [Path(value)]
        case list() | tuple():
            return [path for path in value if isinstance(path, Path)]
    return []


def _normal(path: Path) -> str:
    return os.path.normcase(os.path.realpath(path))


def _lies_in(target: Path, folder: Path) -> bool:
    """Whether a file that exists lies in a folder."""
    if not (target.exists() and folder.is_dir()):
        return False
    return os.path.commonpath([_normal(target), _normal(folder)]) == _normal(folder)
