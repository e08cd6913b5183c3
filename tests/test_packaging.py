"""What is built to be installed: wheels, and what a desktop reads of the package."""

from __future__ import annotations

import gzip
import importlib.util
import io
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import xml.etree.ElementTree as ElementTree
from configparser import ConfigParser
from pathlib import Path
from types import ModuleType

import pytest

import counterfoil
from counterfoil.cli.commands import PLACES
from counterfoil_app.shell.shell import DESKTOP_ID

ROOT = Path(__file__).resolve().parents[1]
PACKAGING = ROOT / "packaging"
DESKTOP = PACKAGING / "desktop"
TOOLS = ROOT / "build" / "tools" / "bin" / "python"
MEDIA_TYPE = "application/x-counterfoil"


def script(name: str) -> ModuleType:
    """A script of packaging/, which is no package."""
    spec = importlib.util.spec_from_file_location(f"packaging_{name}", PACKAGING / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def checked(*command: str) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def locked(name: str) -> dict[str, str]:
    """The versions that a lock names, each of which has hashes."""
    text = (PACKAGING / "lock" / f"{name}.txt").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=[a-z0-9])", re.sub(r"^ *#.*\n", "", text, flags=re.MULTILINE).strip())
    assert all("--hash=sha256:" in entry for entry in entries)
    return dict(entry.split(" ", 1)[0].split("==") for entry in entries)


def test_the_locks_hold_every_dependency_and_the_torch_of_setup() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split(r"[<>!=;]", one)[0].lower() for one in project["dependencies"]}
    window = {re.split(r"[<>!=;]", one)[0].lower() for one in project["optional-dependencies"]["gui"]}
    assert names <= set(locked("engine"))
    assert names | window <= set(locked("window"))
    assert not window & set(locked("engine"))
    (torch,) = re.findall(r"^torch==(.*)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert locked("window")["torch"] == locked("engine")["torch"] == f"{torch}+cpu"
    assert not {name for name in locked("window") if name.startswith(("nvidia", "triton", "cuda"))}


def test_the_engine_is_locked_to_what_the_window_is_locked_to() -> None:
    assert locked("engine").items() <= locked("window").items()


def test_the_desktop_file_is_valid() -> None:
    checked("desktop-file-validate", str(DESKTOP / "counterfoil.desktop"))


def test_the_metainfo_is_valid() -> None:
    checked("appstreamcli", "validate", "--no-net", str(DESKTOP / "counterfoil.metainfo.xml"))


def test_desktop_file_metainfo_and_media_type_mean_the_same() -> None:
    entry = ConfigParser(interpolation=None)
    entry.optionxform = str  # type: ignore[assignment, method-assign]
    entry.read(DESKTOP / "counterfoil.desktop", encoding="utf-8")
    assert f"{DESKTOP_ID}.desktop" == "counterfoil.desktop"
    assert entry["Desktop Entry"]["Exec"] == "counterfoil gui %F"
    assert entry["Desktop Entry"]["MimeType"] == f"{MEDIA_TYPE};"
    metainfo = ElementTree.parse(DESKTOP / "counterfoil.metainfo.xml")
    assert metainfo.findtext("launchable") == f"{DESKTOP_ID}.desktop"
    assert metainfo.findtext("provides/mediatype") == MEDIA_TYPE
    release = metainfo.find("releases/release")
    assert release is not None
    assert release.get("version") == counterfoil.__version__
    dated = re.search(rf"^## \[{re.escape(counterfoil.__version__)}\] - (\S+)", read("CHANGELOG.md"), re.MULTILINE)
    assert dated is not None
    assert release.get("date") == dated[1]
    kinds = ElementTree.parse(DESKTOP / "counterfoil.xml")
    space = "{http://www.freedesktop.org/standards/shared-mime-info}"
    kind = kinds.find(f"{space}mime-type")
    assert kind is not None
    assert kind.get("type") == MEDIA_TYPE
    assert [glob.get("pattern") for glob in kind.findall(f"{space}glob")] == ["*.cfoil"]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_every_command_has_its_man_page_and_its_completions(tmp_path: Path) -> None:
    script("manpages").write(tmp_path, 0)
    manual = {path.name for path in (tmp_path / "man" / "man1").iterdir()}
    assert {f"counterfoil-{name}.1.gz" for name in PLACES} <= manual
    assert {"counterfoil.1.gz", "counterfoil-order-digits-cnn.1.gz", "counterfoil-export-hub.1.gz"} <= manual
    train = gzip.decompress((tmp_path / "man" / "man1" / "counterfoil-train.1.gz").read_bytes()).decode()
    assert "\\-\\-resume" in train
    completion = tmp_path / "bash-completion" / "completions" / "counterfoil"
    assert 'known="digits-cnn' in completion.read_text(encoding="utf-8")
    for found in (tmp_path / "man" / "man1").iterdir():
        lines = gzip.decompress(found.read_bytes()).decode().splitlines()
        assert not [line for line in lines if line.startswith("'")], f"a request by accident in {found.name}"


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        (["counterfoil", "verify-w"], {"verify-weights"}),
        (["counterfoil", "export", "h"], {"hub"}),
        (["counterfoil", "train", "job.cfoil", "--resu"], {"--resume"}),
        (["counterfoil", "--vers"], {"--version"}),
    ],
)
def test_bash_completes_commands_and_options(typed: list[str], wanted: set[str], tmp_path: Path) -> None:
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    manpages = script("manpages")
    (tmp_path / "completion").write_text(manpages.bash(list(manpages.pages())), encoding="utf-8")
    line = " ".join(f"'{word}'" for word in typed)
    code = f"source completion; COMP_WORDS=({line}); COMP_CWORD={len(typed) - 1}; _counterfoil; echo ${{COMPREPLY[@]}}"
    done = subprocess.run(["bash", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == wanted


def test_an_sdist_packed_again_tells_nothing_of_its_builder() -> None:
    packed = [script("wheels").packed_again(sdist(who, when, turned), 86400) for who, when, turned in BUILDERS]
    assert packed[0] == packed[1]
    with tarfile.open(fileobj=io.BytesIO(packed[0])) as archive:
        assert [(one.name, one.mtime, one.uname, one.mode) for one in archive.getmembers()] == [
            ("c/a.py", 86400, "", 0o644),
            ("c/b.sh", 86400, "", 0o755),
        ]


BUILDERS = (("anna", 1.5, False), ("bert", 2e9, True))


def sdist(who: str, when: float, turned: bool) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        files = [("c/a.py", 0o600 if turned else 0o664), ("c/b.sh", 0o700 if turned else 0o775)]
        for name, mode in reversed(files) if turned else files:
            one = tarfile.TarInfo(name)
            one.size, one.mtime, one.mode, one.uname = 3, when, mode, who
            archive.addfile(one, io.BytesIO(b"abc"))
    return made.getvalue()


@pytest.mark.parametrize("name", ["/etc/passwd", "c/../../out"])
def test_an_archive_with_a_path_out_of_its_folder_is_refused(name: str) -> None:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo(name))
    with pytest.raises(ValueError, match="neither a file nor a folder"):
        script("wheels").packed_again(made.getvalue(), 0)


@pytest.mark.slow
def test_two_builds_of_sdist_and_wheel_are_equal(tmp_path: Path) -> None:
    if not TOOLS.exists():
        pytest.skip("build/tools is not there: 'make wheels' makes it")
    command = [str(TOOLS), str(PACKAGING / "wheels.py"), "--twice", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    version = counterfoil.__version__
    assert {path.name for path in tmp_path.iterdir()} == {
        f"counterfoil-{version}.tar.gz",
        f"counterfoil-{version}-py3-none-any.whl",
    }
