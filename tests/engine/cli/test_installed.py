"""``counterfoil --version --verbose``: the installed files against RECORD."""

from __future__ import annotations

import base64
import hashlib
from importlib.metadata import Distribution, PathDistribution
from pathlib import Path

import pytest

from counterfoil import __version__
from counterfoil.cli import main
from counterfoil.doctor import installation
from counterfoil.doctor.installation import Installed, compare_installation, report_lines

RECORDS = f"counterfoil-{__version__}.dist-info"
"""The folder in which an installer writes what it installed."""


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A folder as an installer leaves it."""
    files = {
        "counterfoil/__init__.py": b"one = 1\n",
        "counterfoil_core/hearing/session.py": b"two = 2\n",
        "counterfoil_app/main.py": b"three = 3\n",
        f"{RECORDS}/METADATA": f"Metadata-Version: 2.1\nName: counterfoil\nVersion: {__version__}\n".encode(),
    }
    lines = []
    for name, data in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        lines.append(f"{name},sha256={digest},{len(data)}")
    lines += ["counterfoil/__pycache__/__init__.cpython-311.pyc,,", f"{RECORDS}/RECORD,,"]
    (tmp_path / RECORDS / "RECORD").write_text("\n".join(lines) + "\n")
    return tmp_path


def distribution(folder: Path) -> Distribution:
    return PathDistribution(folder / RECORDS)


def test_files_as_they_were_installed(wheel: Path) -> None:
    found = compare_installation(distribution(wheel))
    assert found == Installed(str(wheel), 4)
    assert found.as_recorded
    assert "All 4 files are as RECORD says" in list(report_lines(found))[-1]


@pytest.mark.parametrize(
    ("damage", "kind"),
    [
        ("changed", "changed"),
        ("emptied", "changed"),
        ("removed", "missing"),
        ("added", "unknown"),
        ("bound", "unknown"),
    ],
)
def test_what_differs_is_named(wheel: Path, damage: str, kind: str, monkeypatch, capsys) -> None:
    path = wheel / "counterfoil_core" / "hearing" / "session.py"
    if damage == "changed":
        path.write_bytes(b"two = 3\n")
    elif damage == "emptied":
        path.write_bytes(b"")
    elif damage == "removed":
        path.unlink()
    else:
        path = path.with_name("struct.py" if damage == "added" else "fast.so")
        path.touch()
    found = compare_installation(distribution(wheel))
    assert getattr(found, kind) == (path.relative_to(wheel).as_posix(),)
    assert not found.as_recorded
    monkeypatch.setattr(installation, "_own", lambda: distribution(wheel))
    assert main(["--version", "--verbose"]) == 4
    said = capsys.readouterr().out
    assert path.name in said
    assert "not as RECORD says" in said


def test_what_an_installer_adds_is_no_difference(wheel: Path) -> None:
    (wheel / "counterfoil" / "__pycache__").mkdir()
    (wheel / "counterfoil" / "__pycache__" / "__init__.cpython-311.pyc").touch()
    (wheel / "another").mkdir()
    (wheel / "another" / "module.py").touch()
    assert compare_installation(distribution(wheel)).as_recorded


def test_a_source_tree_has_no_record(wheel: Path, capsys) -> None:
    (wheel / RECORDS / "RECORD").write_text("__editable__counterfoil.py,sha256=x,1\n")
    assert "source tree" in compare_installation(distribution(wheel)).why_not
    (wheel / RECORDS / "RECORD").unlink()
    assert "no RECORD" in compare_installation(distribution(wheel)).why_not
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"counterfoil {__version__}\n"


def test_verbose_belongs_to_version(capsys) -> None:
    assert main(["--verbose", "keygen", "x.pem"]) == 4
    assert "--verbose belongs to --version" in capsys.readouterr().err
