"""What is frozen: names of files below ``files/``, and who makes their text again."""

from __future__ import annotations

import difflib
import json
import platform
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

HERE = Path(__file__).resolve().parent
FILES = HERE / "files"
INPUTS = HERE / "inputs"
MACHINE = FILES / "machine.json"
Texts = dict[str, str]
"""The text of each file, by its name below ``files/``."""


def machine() -> dict[str, str]:
    """What some of the files depend on, by the names that :data:`NEEDS` gives."""
    import torch

    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    vendors = [line.split(":")[1].strip() for line in lines if line.startswith("vendor_id")]
    return {
        "cpu": f"{vendors[0] if vendors else platform.machine()} {torch.backends.cpu.get_cpu_capability()}",
        "torch": torch.__version__.split("+")[0],
        **{name: _version(name) for name in ("typer", "click")},
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


NEEDS: Mapping[str, tuple[str, ...]] = {
    # Captured programs are torch's lists of operators.
    "roots/orders.json": ("torch",),
    "roots/exact.json": ("torch",),
    "roots/networks.json": ("torch",),
    # A rounded run commits to its log: what was close on the machine that recorded it.
    "roots/rounded.json": ("torch", "cpu"),
    # So does what their audits say: how many values were close here.
    **{
        f"{name}.txt": ("torch", "cpu")
        for name in (
            "audits/honest-rounded",
            "audits/honest-turns",
            "audits/honest-stopped",
            "audits/honest-transformer",
            "audits/lie-rounded",
            "adjudications/rounded",
        )
    },
    # How options are laid out, and what is said of a wrong one, is the library's.
    **dict.fromkeys(
        ("help/", "commands/unknown", "audits/mistake-key-alone", "audits/mistake-verdict-alone"), ("typer", "click")
    ),
}
"""Files that are the same only where these are as they were when the files were made."""


def obstacle(name: str) -> str:
    """Why this machine cannot make a file again; empty where it can."""
    for prefix, needs in NEEDS.items():
        if name.startswith(prefix):
            made, here = json.loads(MACHINE.read_text()), machine()
            other = [f"{need} {made[need]}, here {here[need]}" for need in needs if made[need] != here[need]]
            if other:
                return f"made with {'; '.join(other)}"
    return ""


def as_text(value: object) -> str:
    """JSON with sorted keys, one value a line."""
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def stored(prefixes: tuple[str, ...] = ("",)) -> Texts:
    """The files that lie there, those whose names begin so."""
    paths = (path for path in FILES.rglob("*") if path.is_file() and path != MACHINE)
    texts = {path.relative_to(FILES).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    return {name: text for name, text in sorted(texts.items()) if name.startswith(prefixes)}


def write(texts: Mapping[str, str], prefixes: tuple[str, ...]) -> None:
    """Put texts in the place of all files whose names begin so."""
    for name in stored(prefixes):
        if name not in texts:
            (FILES / name).unlink()
    for name, text in texts.items():
        path = FILES / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def differences(texts: Mapping[str, str], prefixes: tuple[str, ...]) -> Iterator[str]:
    """Lines of a diff from what lies there to what was made again."""
    lie = stored(prefixes)
    for name in sorted(lie.keys() | texts.keys()):
        if not obstacle(name):
            before, after = lie.get(name, "").splitlines(), texts.get(name, "").splitlines()
            yield from difflib.unified_diff(before, after, f"stored/{name}", f"made/{name}", n=2, lineterm="")
