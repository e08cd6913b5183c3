"""Builds the Debian package and the archive of a commit: ``make package``; both lie in build/package afterwards.

Both hold the same tree (packaging/tree.py), made with this machine's /usr/bin/python3, whose minor version the package
then depends on: extension modules are built for one. Every time in them is that of the commit, every file is root's.

It needs Linux with dpkg-deb, and a build of torch for CPUs where pip looks (packaging/lock.sh says how).
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Sequence
from email.utils import formatdate
from importlib.metadata import Distribution, PathDistribution
from pathlib import Path

import tree
import wheels

ROOT = tree.ROOT
DEBIAN = ROOT / "packaging" / "debian"
OF_TESTS = ("libX11.so.6", "libXtst.so.6")
"""Libraries of that list with which tests press keys."""

LATER_NAMES = {"libglib2.0-0": "libglib2.0-0t64"}
"""Packages that Debian 13 calls otherwise."""


def version() -> str:
    (found,) = re.findall(
        r'^__version__ = "(.*)"$', (ROOT / "engine/counterfoil_core/__init__.py").read_text(), re.MULTILINE
    )
    return str(found)


def qt_packages() -> list[str]:
    """Debian's packages of the libraries that Qt loads, as packaging/bootstrap.sh lists them."""
    (listed,) = re.findall(
        r'^libraries="$(.*?)^"$', (ROOT / "packaging/bootstrap.sh").read_text(), re.DOTALL | re.MULTILINE
    )
    names = [entry.split(":")[1] for entry in listed.split() if entry.split(":")[0] not in OF_TESTS]
    return sorted(f"{name} | {LATER_NAMES[name]}" if name in LATER_NAMES else name for name in names)


def control(root: Path, architecture: str) -> str:
    """The package's description for dpkg."""
    minor = int(tree.python_of(root).split(".")[1])
    kilobytes = sum(path.lstat().st_size for path in root.rglob("*") if path.is_file()) // 1024
    needed = ["libc6 (>= 2.34)", "libstdc++6", f"python3 (>= 3.{minor})", f"python3 (<< 3.{minor + 1})", *qt_packages()]
    return f"""Package: counterfoil
Version: {version()}-1
Architecture: {architecture}
Maintainer: {maintainer()}
Installed-Size: {kilobytes}
Depends: {", ".join(needed)}
Recommends: desktop-file-utils, shared-mime-info
Section: science
Priority: optional
Description: audit of training runs, by replaying them step by step
 You pay somebody to train a model. Counterfoil lets an auditor replay the
 recorded training on other hardware and watch every step come out the same,
 bit for bit, or see the exact step where it does not. The result is a signed
 verdict that anybody can check.
 .
 This package holds the engine, the command line and the window, with their
 libraries for computing on processors in an environment of their own. Graphics
 cards need a build of PyTorch for CUDA, which is not in it.
"""


def maintainer() -> str:
    """Who answers for the package: DEBFULLNAME and DEBEMAIL, as Debian's own tools read them."""
    name = os.environ.get("DEBFULLNAME", "Counterfoil developers")
    return f"{name} <{os.environ.get('DEBEMAIL', 'maintainers@counterfoil.invalid')}>"


def copyright_file(site: Path) -> str:
    """What is in the package and under which licence, as each distribution says of itself."""
    parts = [
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/",
        "Upstream-Name: Counterfoil",
        "Comment: usr/lib/counterfoil is an environment of its own with the libraries below. The text of each licence"
        "\n lies beside the library, in NAME.dist-info.",
        "",
        "Files: *\nCopyright: 2026, the Counterfoil developers\nLicense: Apache-2.0",
        "",
        "Files: usr/lib/counterfoil/lib/*/site-packages/counterfoil_resources/fonts/*\nCopyright: the authors of Inter "
        "and of JetBrains Mono\nLicense: OFL-1.1\n See OFL-*.txt beside the fonts.",
    ]
    for path in sorted(site.glob("*.dist-info")):
        found: Distribution = PathDistribution(path)
        if found.name == "counterfoil":
            continue
        about = found.metadata
        said = about.get("License-Expression") or about.get("License") or _by_classifier(about.get_all("Classifier"))
        licence = " ".join(str(said).split()[:12])
        holders = about.get("Author") or about.get("Author-email") or f"the authors of {found.name}"
        names = sorted({str(one).split("/")[0] for one in found.files or () if "/" in str(one)})
        files = "\n ".join(f"usr/lib/counterfoil/lib/*/site-packages/{name}/*" for name in names)
        parts += ["", f"Files: {files}\nCopyright: {' '.join(str(holders).split())}\nLicense: {found.name}-license\n"
                  f" {found.name} {found.version}: {licence}"]  # fmt: skip
    parts += ["", "License: Apache-2.0\n On Debian systems the text is in /usr/share/common-licenses/Apache-2.0."]
    return "\n".join(parts) + "\n"


def _by_classifier(classifiers: list[str] | None) -> str:
    found = [one.rpartition(":: ")[2] for one in classifiers or () if one.startswith("License ::")]
    return ", ".join(found) or "see its dist-info"


def make_deb(root: Path, out: Path, epoch: int, level: str) -> Path:
    """Pack the tree as a Debian package."""
    architecture = subprocess.check_output(["dpkg", "--print-architecture"], text=True).strip()
    doc, overrides = root / "usr/share/doc/counterfoil", root / "usr/share/lintian/overrides"
    doc.mkdir(parents=True)
    overrides.mkdir(parents=True)
    (site,) = (root / tree.HOME / "lib").glob("python3.*/site-packages")
    (doc / "copyright").write_text(copyright_file(site), encoding="utf-8")
    entry = (
        f"counterfoil ({version()}-1) unstable; urgency=medium\n\n  * CHANGELOG.md of the project, which is "
        f"changelog.gz, says what is new.\n\n -- {maintainer()}  {formatdate(epoch)}\n"
    )
    (doc / "changelog.Debian.gz").write_bytes(gzip.compress(entry.encode(), 9, mtime=0))
    (doc / "changelog.gz").write_bytes(gzip.compress((ROOT / "CHANGELOG.md").read_bytes(), 9, mtime=0))
    shutil.copyfile(DEBIAN / "lintian-overrides", overrides / "counterfoil")
    (root / "usr/bin").mkdir()
    (root / "usr/bin/counterfoil").symlink_to("../lib/counterfoil/bin/counterfoil")
    about = root / "DEBIAN"
    about.mkdir()
    sums = [f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(root)}" for path in _files(root)]
    (about / "control").write_text(control(root, architecture))
    (about / "md5sums").write_text("\n".join(sums) + "\n")
    for name in ("postinst", "prerm"):
        shutil.copyfile(DEBIAN / name, about / name)
        (about / name).chmod(0o755)
    target = out / f"counterfoil_{version()}-1_{architecture}.deb"
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", "-Zxz", f"-z{level}", "--build", str(root), str(target)],
        env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch)},
        check=True,
    )
    return target


def make_archive(root: Path, out: Path, epoch: int) -> Path:
    """Pack the same environment with a starter, for whoever has no root or no Debian."""
    name = f"counterfoil-{version()}-linux-{os.uname().machine}-python{tree.python_of(root)}"
    target = out / f"{name}.tar.gz"
    places = {"lib/counterfoil": root / tree.HOME, "share": root / "usr/share"}
    with (
        target.open("wb") as stream,
        gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=epoch, compresslevel=6) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):

        def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
            if member.issym():  # the one link of the environment: to the Python of the machine
                member.linkname = f"/usr/bin/{Path(member.linkname).name}"
            return member.replace(mtime=epoch, uid=0, gid=0, uname="", gname="", deep=False)

        archive.add(ROOT / "packaging" / "start.sh", f"{name}/counterfoil", filter=plain)
        archive.add(ROOT / "LICENSE", f"{name}/LICENSE", filter=plain)
        for place, folder in places.items():
            for path in sorted(folder.rglob("*")):
                if "doc" not in path.parts and "lintian" not in path.parts:
                    archive.add(path, f"{name}/{place}/{path.relative_to(folder)}", recursive=False, filter=plain)
    return target


def _files(root: Path) -> list[Path]:
    return sorted(
        path for path in root.rglob("*") if path.is_file() and not path.is_symlink() and "DEBIAN" not in path.parts
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "package")
    parser.add_argument("--level", default="6", help="how hard the package is compressed, 0 to 9")
    parser.add_argument("--no-archive", action="store_true", help="the Debian package only")
    given = parser.parse_args(arguments)
    if shutil.which("dpkg-deb") is None:
        raise SystemExit("dpkg-deb is missing: the package is built on Debian or its kin.")
    epoch = wheels.source_date()
    os.umask(0o022)
    shutil.rmtree(given.out, ignore_errors=True)
    root = given.out / "root"
    root.mkdir(parents=True)
    begun = time.monotonic()
    wheel = wheels.build(given.out)[1]
    left_out = tree.make(root, wheel, epoch)
    for what, size in left_out.items():
        print(f"left out {size / 1e6:7.1f} MB  {what}")
    size = sum(path.stat().st_size for path in _files(root))
    print(f"the tree {size / 1e6:7.1f} MB, made in {time.monotonic() - begun:.0f} s", flush=True)
    made = [] if given.no_archive else [make_archive(root, given.out, epoch)]
    made.append(make_deb(root, given.out, epoch, given.level))
    for path in made:
        print(f"{path.stat().st_size / 1e6:9.1f} MB  {path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
