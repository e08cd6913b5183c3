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


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """packaging/package.py, which imports the scripts beside it."""
    monkeypatch.syspath_prepend(str(PACKAGING))
    return script("package")


def test_the_package_depends_on_the_python_that_it_was_made_with_and_on_qts_libraries(
    package: ModuleType, tmp_path: Path
) -> None:
    (tmp_path / "usr/lib/counterfoil/lib/python3.11").mkdir(parents=True)
    (tmp_path / "usr/lib/counterfoil/some.py").write_bytes(bytes(4096))
    fields = dict(line.split(": ", 1) for line in package.control(tmp_path, "amd64").splitlines() if line[0] != " ")
    needed = fields["Depends"].split(", ")
    assert {"python3 (>= 3.11)", "python3 (<< 3.12)"} <= set(needed)
    assert {"libegl1", "libxcb-cursor0", "libglib2.0-0 | libglib2.0-0t64"} <= set(needed)
    assert not {name for name in needed if name.startswith("libxtst")}, "only tests press keys"
    assert fields["Version"] == f"{counterfoil.__version__}-1"
    assert fields["Installed-Size"] == "4"


def test_the_package_names_the_licence_of_everything_in_it(package: ModuleType, tmp_path: Path) -> None:
    for name, line in {
        "alpha": "License-Expression: MIT",
        "beta": "Classifier: License :: OSI Approved :: BSD",
    }.items():
        (tmp_path / f"{name}-1.dist-info").mkdir()
        (tmp_path / f"{name}-1.dist-info" / "METADATA").write_text(f"Name: {name}\nVersion: 1\n{line}\n")
        (tmp_path / f"{name}-1.dist-info" / "RECORD").write_text(f"{name}/core.py,,\n")
    found = package.copyright_file(tmp_path)
    assert "Files: *\nCopyright: 2026, the Counterfoil developers\nLicense: Apache-2.0" in found
    assert "alpha 1: MIT" in found
    assert "beta 1: BSD" in found
    assert "site-packages/alpha/*" in found


def test_record_names_what_is_there_after_something_was_left_out(
    package: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = sys.modules["tree"]
    monkeypatch.setattr(tree, "DROPPED", {"tests": ["lib/tests", "lib/tests/deep"], "tools": ["lib/tool"]})
    kept, gone = ["lib/core.py"], ["lib/tests/deep/a.py", "lib/tool"]
    for name in (*kept, *gone):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"12345")
    record = tmp_path / "lib-1.dist-info" / "RECORD"
    record.parent.mkdir()
    record.write_text("".join(f"{name},sha256=x,5\n" for name in (*kept, *gone, "../../../bin/tool")))
    assert tree._drop(tmp_path) == {"tests": 5, "tools": 5}
    tree._record_again(record)
    assert record.read_text() == "lib/core.py,sha256=x,5\n"


@pytest.mark.parametrize("name", ["debian/postinst", "debian/prerm", "start.sh"])
def test_what_runs_at_a_users_is_plain_sh(name: str) -> None:
    checked("sh", "-n", str(PACKAGING / name))


def test_every_lintian_override_has_a_reason() -> None:
    reason = False
    for line in (PACKAGING / "debian" / "lintian-overrides").read_text(encoding="utf-8").splitlines():
        assert reason or line.startswith("#"), f"no reason before {line!r}"
        reason = line.startswith("#") or (reason and bool(line))


def test_the_archives_starter_finds_a_python_that_lies_elsewhere(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("the archive is for Linux")
    version = f"python3.{sys.version_info.minor}"
    home = tmp_path / "unpacked" / "lib" / "counterfoil"
    (home / "lib" / version / "site-packages").mkdir(parents=True)
    (home / "bin").mkdir()
    (home / "bin" / "python3").symlink_to("/nowhere/python3")
    (home / "bin" / "counterfoil").write_text("import sys\nprint(sys.prefix, sys.argv[1:])\n")
    starter = tmp_path / "unpacked" / "counterfoil"
    shutil.copy(PACKAGING / "start.sh", starter)
    found = tmp_path / "path"
    found.mkdir()
    (found / version).symlink_to(Path(sys._base_executable).resolve())  # type: ignore[attr-defined]
    for path, wanted in (
        (f"{found}:/usr/bin:/bin", f"{home} ['--version']"),
        ("/usr/bin:/bin", f"{home} ['--version']"),
    ):
        done = subprocess.run([starter, "--version"], env={"PATH": path}, capture_output=True, text=True, check=False)
        assert done.stdout.strip() == wanted, done.stderr
