"""What is installed, compared with what was installed: each file with its line in RECORD.

RECORD is written by the installer, with the SHA-256 of every file of a wheel (Python Packaging User Guide, *Recording
installed projects*). It lies beside the files, and whoever can change them can change it: the comparison finds what a
disk, another program or a half-done update changed, and an attacker only who forgot it.
"""

from __future__ import annotations

import base64
import hashlib
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distributions, version as version_of
from pathlib import Path

from counterfoil import __version__

DISTRIBUTION = "counterfoil"
_PACKAGES = ("counterfoil", "counterfoil_core", "counterfoil_app", "counterfoil_resources")
_BESIDE = ("torch", "numpy", "numba", "h5py", "msgspec", "cryptography", "securesystemslib", "PySide6-Essentials")
_CODE = frozenset({".py", ".so", ".pyd", ".dylib", ".pth"})
_PIECE = 2**20


@dataclass(frozen=True)
class Installed:
    """What the comparison found."""

    folder: str = ""  #: Where the distribution is installed.
    compared: int = 0  #: How many files have the SHA-256 that RECORD says.
    changed: tuple[str, ...] = ()  #: Files that have another one.
    missing: tuple[str, ...] = ()  #: Files that are not there.
    unknown: tuple[str, ...] = ()  #: Code in its packages that RECORD does not name.
    why_not: str = ""  #: Why nothing could be compared; empty where it was.

    @property
    def as_recorded(self) -> bool:
        """Whether nothing differs, as far as it could be compared."""
        return not (self.changed or self.missing or self.unknown)


def compare_installation(found: Distribution | None = None) -> Installed:
    """Compare the installed files of Counterfoil with RECORD.

    Args:
        found: The distribution; that of the running program unless given.
    """
    distribution = found or _own()
    if distribution is None:
        return Installed(why_not="it is not installed: it runs from a source tree, or is frozen")
    folder = str(distribution.locate_file(""))
    listed = distribution.files
    if listed is None:
        return Installed(folder, why_not="the installer wrote no RECORD")
    packaged = {Path(file.parts[0]).name for file in listed if len(file.parts) > 1}
    if not packaged & set(_PACKAGES):
        return Installed(folder, why_not="it is installed from a source tree, whose files have no RECORD")
    changed, missing, compared, known = [], [], 0, set()
    for file in listed:
        path = Path(str(distribution.locate_file(file)))
        known.add(path.resolve())
        if file.hash is None:  # RECORD itself, and bytecode
            continue
        if not path.is_file():
            if ".." not in file.parts:  # pip install --target puts scripts elsewhere than it says
                missing.append(str(file))
        elif file.hash.mode != "sha256" or _sha256(path) != file.hash.value:
            changed.append(str(file))
        else:
            compared += 1
    unknown = [path for path in _code(Path(folder)) if path.resolve() not in known]
    names = tuple(sorted(str(path.relative_to(folder)) for path in unknown))
    return Installed(folder, compared, tuple(sorted(changed)), tuple(sorted(missing)), names)


def report_lines(installed: Installed) -> Iterator[str]:
    """Yield what is said of it, line by line."""
    yield f"counterfoil {__version__}"
    yield f"Python {platform.python_version()}, {platform.platform()}"
    for name in _BESIDE:
        try:
            yield f"{name} {version_of(name)}"
        except PackageNotFoundError:
            continue
    if installed.folder:
        yield f"Installed in {installed.folder}"
    if installed.why_not:
        yield f"The installed files were not compared: {installed.why_not}."
        return
    for word, names in (
        ("changed", installed.changed),
        ("missing", installed.missing),
        ("not named", installed.unknown),
    ):
        for name in names:
            yield f"  {word:<10}{name}"
    if installed.as_recorded:
        yield f"All {installed.compared} files are as RECORD says, which lies beside them."
    else:
        yield f"The installed files are not as RECORD says; {installed.compared} are. Install Counterfoil again."


def _own() -> Distribution | None:
    """The distribution that the running package belongs to; another copy further down the path says nothing of it."""
    here = Path(__file__).resolve().parents[2]
    for found in distributions(name=DISTRIBUTION):
        place = Path(str(found.locate_file(""))).resolve()
        direct = found.read_text("direct_url.json") or ""
        if place == here or '"editable": true' in direct.replace('":true', '": true'):
            return found
    return None


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return base64.urlsafe_b64encode(digest.digest()).decode("ascii").rstrip("=")


def _code(folder: Path) -> Iterator[Path]:
    for package in _PACKAGES:
        for path in (folder / package).rglob("*"):
            if path.suffix in _CODE and path.is_file():
                yield path
