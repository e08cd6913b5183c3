"""Builds the sdist and the wheel of a commit, the same bytes each time: ``make wheels``.

What is built is what is committed, unpacked into a folder of its own with the same permissions everywhere; times are
that of the commit (or SOURCE_DATE_EPOCH). setuptools writes the wheel so by itself; its sdist carries the builder's
name and the hour, and is packed again here. The wheel is built from the sdist, so whoever has the one can make the
other. Compression is zlib's: another implementation of it may write other bytes with the same files in them.

Run it with the Python of build/tools, which ``make wheels`` makes from packaging/lock/build.txt.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def source_date(commit: str = "HEAD") -> int:
    """Seconds since 1970 that everything built is dated: SOURCE_DATE_EPOCH, or the commit's time."""
    said = os.environ.get("SOURCE_DATE_EPOCH")
    return int(said) if said else int(_git("log", "-1", "--format=%ct", commit).decode())


def export(folder: Path, commit: str = "HEAD") -> None:
    """Unpack a commit's files."""
    with tarfile.open(fileobj=io.BytesIO(_git("archive", "--format=tar", commit))) as archive:
        archive.extractall(folder, filter=_plain)


def build(out: Path, commit: str = "HEAD") -> list[Path]:
    """Build the sdist and the wheel into a folder; returns both."""
    epoch = source_date(commit)
    os.umask(0o022)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="counterfoil-wheels-") as made:
        source, first = Path(made) / "source", Path(made) / "first"
        export(source, commit)
        _build("--sdist", source, first, epoch)
        (sdist,) = first.glob("*.tar.gz")
        again = out / sdist.name
        again.write_bytes(packed_again(sdist.read_bytes(), epoch))
        with tarfile.open(again) as archive:
            archive.extractall(Path(made) / "from-sdist", filter=_plain)
        (unpacked,) = (Path(made) / "from-sdist").iterdir()
        _build("--wheel", unpacked, first, epoch)
        (wheel,) = first.glob("*.whl")
        target = out / wheel.name
        target.write_bytes(wheel.read_bytes())
    return [again, target]


def packed_again(archive: bytes, epoch: int) -> bytes:
    """The same files as a .tar.gz without the builder's name, the hour, and the order of a folder."""
    packed = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(archive)) as old,
        gzip.GzipFile(filename="", fileobj=packed, mode="wb", mtime=epoch) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda one: one.name):
            fresh = _plain(member, "")
            fresh.mtime = epoch
            fresh.pax_headers = {}
            new.addfile(fresh, old.extractfile(member) if member.isfile() else None)
    return packed.getvalue()


def _plain(member: tarfile.TarInfo, _: str) -> tarfile.TarInfo:
    """A member that belongs to nobody in particular, with the permissions that the wheel shall have."""
    if not (member.isfile() or member.isdir()) or member.name.startswith("/") or ".." in Path(member.name).parts:
        raise ValueError(f"{member.name} is neither a file nor a folder of the archive")
    executable = member.isdir() or member.mode & 0o100
    return member.replace(mode=0o755 if executable else 0o644, uid=0, gid=0, uname="", gname="")


def _build(kind: str, source: Path, out: Path, epoch: int) -> None:
    command = [sys.executable, "-m", "build", "--no-isolation", kind, "--outdir", str(out), str(source)]
    done = subprocess.run(
        command,
        env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch), "PYTHONHASHSEED": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{done.stdout}\nNothing was built. 'make wheels' installs what this needs.")


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True).stdout


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "wheels")
    parser.add_argument("--twice", action="store_true", help="build a second time, and fail unless all bytes are equal")
    given = parser.parse_args(arguments)
    if _git("status", "--porcelain", "--untracked-files=no"):
        print("What is not committed is not in it.", file=sys.stderr)
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in build(given.out)}
    if given.twice:
        with tempfile.TemporaryDirectory(prefix="counterfoil-again-") as again:
            second = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in build(Path(again))}
        if second != digests:
            print(f"Two builds differ: {digests} and {second}", file=sys.stderr)
            return 1
    for name, digest in digests.items():
        print(f"{digest}  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
