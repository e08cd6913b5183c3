"""Makes the tree that the Debian package and the archive share: a private, ordinary environment of Python's.

Nothing is frozen: the environment is what ``venv`` and ``pip`` make of packaging/lock/window.txt, without what no part
of Counterfoil loads. RECORD of every distribution is written again to fit, so that whatever compares files with it, as
``counterfoil --version --verbose`` does, finds what is true.
"""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOME = Path("usr/lib/counterfoil")
SYSTEM_PYTHON = "/usr/bin/python3"

DROPPED = {
    "torch's own tests": ["torch/test", "torch/lib/*test*.so", "torch/lib/libaoti_custom_ops.so"],
    "torch's headers and build files": ["torch/include", "torch/share", "torch/lib/libshm", "torch/lib/libshm_windows"],
    "torch's programs, but the one that shares memory": ["torch/bin/[!t]*", "torch/bin/t[!o]*"],
    "Qt Quick": [
        "PySide6/Qt/qml",
        "PySide6/Qt/lib/libQt6Q[mu]*",
        "PySide6/Qt/lib/libQt6Labs*",
        "PySide6/libpyside6qml*",
        "PySide6/QtQ[mu]*",
        "PySide6/Qt/plugins/qmllint",
        "PySide6/Qt/plugins/qmltooling",
        "PySide6/Qt/plugins/qmlls",
    ],
    "Qt's tools for developers": [
        "PySide6/Qt/libexec",
        "PySide6/Qt/lib/libQt6Designer*",
        "PySide6/Qt/lib/libQt6UiTools*",
        "PySide6/QtDesigner*",
        "PySide6/QtUiTools*",
        "PySide6/Qt/plugins/designer",
        "PySide6/Qt/metatypes",
        "PySide6/assistant",
        "PySide6/balsam*",
        "PySide6/designer",
        "PySide6/linguist",
        "PySide6/lrelease",
        "PySide6/lupdate",
        "PySide6/qml*",
        "PySide6/qsb",
        "PySide6/svgtoqml",
        "PySide6/typesystems",
        "PySide6/glue",
        "PySide6/include",
        "PySide6/doc",
        "PySide6/scripts",
        "PySide6/*.pyi",
        "shiboken6/*.pyi",
    ],
    "translations of Qt's tools": ["PySide6/Qt/translations/[!q]*", "PySide6/Qt/translations/qt[!b]*"],
    "examples of other libraries, and what they were made with": [
        "pyqtgraph/examples",
        "numpy/_core/lib/*.a",
        "numpy/random/lib/*.a",
        "securesystemslib/_vendor/*.sh",
        "securesystemslib/_vendor/**/.gitignore",
    ],
    "tests of other libraries": [
        "numba/cuda/tests",
        "numba/tests",
        "numpy/**/tests",
        "sympy/**/tests",
        "networkx/**/tests",
        "mpmath/tests",
        "numpy/_core/*_tests.*.so",
        "h5py/tests",
    ],
}
"""What is left out, and patterns of it below site-packages."""


def make(root: Path, wheel: Path, epoch: int) -> dict[str, int]:
    """Make the tree below a folder that stands for ``/``; returns how many bytes of what were left out.

    Raises:
        SystemExit: Something that it needs is missing, and what.
    """
    home = root / HOME
    _run(SYSTEM_PYTHON, "-m", "venv", "--without-pip", str(home))
    pip = [sys.executable, "-m", "pip", "--python", str(home / "bin" / "python3"), "install", "--quiet", "--no-compile"]
    options = ["--disable-pip-version-check", "--no-input", "--no-deps", "--only-binary", ":all:"]
    _run(*pip, *options, "--require-hashes", "-r", str(ROOT / "packaging" / "lock" / "window.txt"))
    _run(*pip, *options, "--no-index", str(wheel))
    (site,) = (home / "lib").glob("python3.*/site-packages")
    left_out = _drop(site)
    for found in site.glob("*.dist-info"):
        for name in ("direct_url.json", "REQUESTED"):
            (found / name).unlink(missing_ok=True)
    _programs(home)
    for record in site.glob("*.dist-info/RECORD"):
        _record_again(record)
    _share(root / "usr" / "share", home, epoch)
    _relink(home)
    return left_out


def python_of(root: Path) -> str:
    """The version of Python that a tree was made with, such as ``3.11``."""
    (library,) = (root / HOME / "lib").glob("python3.*")
    return library.name.removeprefix("python")


def _drop(site: Path) -> dict[str, int]:
    left_out = {}
    for what, patterns in DROPPED.items():
        taken = 0
        for path in sorted({path for pattern in patterns for path in site.glob(pattern)}):
            if not path.exists():
                continue  # with a folder above it
            if path.is_dir():
                taken += sum(one.stat().st_size for one in path.rglob("*") if one.is_file())
                shutil.rmtree(path)
            else:
                taken += path.stat().st_size
                path.unlink()
        left_out[what] = taken
    return left_out


def _programs(home: Path) -> None:
    """One program in place of the many that libraries bring."""
    for path in (home / "bin").iterdir():
        if not path.name.startswith("python"):
            path.unlink()
    for name in ("include", "share", "lib64"):
        path = home / name
        if path.is_symlink():
            path.unlink()
        elif path.exists():
            shutil.rmtree(path)
    launcher = home / "bin" / "counterfoil"
    # Isolated: no folder, variable or user's library of the one who starts it decides what is imported.
    launcher.write_text(
        f"#!/{HOME}/bin/python3 -I\nimport sys\n\nfrom counterfoil.cli import main\n\n"
        'if __name__ == "__main__":\n    sys.exit(main())\n'
    )
    launcher.chmod(0o755)


def _record_again(record: Path) -> None:
    """Take out of RECORD what was left out, and the programs."""
    site = record.parents[1]
    with record.open(newline="", encoding="utf-8") as stream:
        rows = [row for row in csv.reader(stream) if row]
    with record.open("w", newline="", encoding="utf-8") as stream:
        rows = [row for row in rows if not row[0].startswith("..") and (site / row[0]).exists()]
        csv.writer(stream, lineterminator="\n").writerows(rows)


def _share(share: Path, home: Path, epoch: int) -> None:
    """What a desktop and a shell read."""
    desktop = ROOT / "packaging" / "desktop"
    icon = ROOT / "resources" / "counterfoil_resources" / "icons" / "counterfoil.svg"
    for source, target in {
        desktop / "counterfoil.desktop": "applications/counterfoil.desktop",
        desktop / "counterfoil.metainfo.xml": "metainfo/org.counterfoil.Counterfoil.metainfo.xml",
        desktop / "counterfoil.xml": "mime/packages/counterfoil.xml",
        icon: "icons/hicolor/scalable/apps/counterfoil.svg",
        desktop / "application-x-counterfoil.svg": "icons/hicolor/scalable/mimetypes/application-x-counterfoil.svg",
    }.items():
        (share / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, share / target)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    script = ROOT / "packaging" / "manpages.py"
    _run(str(home / "bin" / "python3"), "-B", str(script), str(share), str(epoch), environment=environment)


def _relink(home: Path) -> None:
    """Let the environment use the system's Python at its own place."""
    version = next((home / "lib").glob("python3.*")).name
    for path in (home / "bin").glob("python*"):
        path.unlink()
    (home / "bin" / "python3").symlink_to(f"../../../bin/{version}")
    (home / "pyvenv.cfg").write_text(
        f"home = /usr/bin\ninclude-system-site-packages = false\nversion = {version.removeprefix('python')}\n"
    )
    for path in sorted(home.rglob("__pycache__")):
        shutil.rmtree(path)
    for path in [home, *home.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)


def _run(*command: str, environment: dict[str, str] | None = None) -> None:
    try:
        subprocess.run(command, check=True, env=environment)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(f"The tree cannot be made: {error}") from error
