"""Python modules beside a run, called as those that the program imports: none of them is ever run.

Whoever audits a run is in the folder in which it lies. Each file leaves a mark when it is run by anybody.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtWidgets import QApplication

from counterfoil import CancelToken, Outcome
from counterfoil.audit.parts import rayexec
from counterfoil.audit.parts.task import Task
from counterfoil.cli import main
from counterfoil.talk.programs import FROZEN_MARK, hashing_otherwise, program_command, program_environment
from counterfoil_app.engine.process import ProcessEngine
from counterfoil_app.verdict.report_process import print_report
from counterfoil_core.values.events import AuditFinished
from counterfoil_core.values.request import AuditRequest
from support.fake_engine import FakeEngine
from support.jobs import Job
from support.packages import ENGINE, PACKAGES
from support.pages import contents

pytestmark = pytest.mark.own_process

SOURCES = (*PACKAGES, ENGINE.parents[1] / "app" / "counterfoil_app")
NAMES = (
    "struct", "multiprocessing", "torch", "sitecustomize", "usercustomize", "ast", "msgspec", "json",
    "platform", "counterfoil_app", "numpy", "PySide6", "typer",
)  # fmt: skip
PROGRAMS = (
    "counterfoil.audit.parts.worker",
    "counterfoil.cli.orderprogram",
    "counterfoil.doctor.boxprobe",
    "counterfoil.signer.server",
    "counterfoil.training.following.plainrun",
    "counterfoil_app.engine.child",
    "counterfoil_app.verdict.report_process",
)
"""What works beside a command and the window."""


class Folder:
    """A folder that a stranger filled.

    Attributes:
        path: The folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        self._marks = path.with_name("marks")
        self._marks.mkdir()
        for name in NAMES:
            (path / f"{name}.py").write_text(f"import os; os.close(os.open({str(self._marks / name)!r}, os.O_CREAT))\n")
        self.base = path / ".local"
        site = self.base / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
        site.mkdir(parents=True)
        for folder in (path, site):
            mark = str(self._marks / "pth")
            (folder / "hostile.pth").write_text(f"import os; os.close(os.open({mark!r}, os.O_CREAT))\n")
        (path / ".numba_config.yaml").write_text("cache_dir: compiled-by-a-stranger\n")

    def taken(self) -> set[str]:
        """The files that somebody ran since this was asked last."""
        found = {mark.name for mark in self._marks.iterdir()}
        for mark in self._marks.iterdir():
            mark.unlink()
        return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    made = Folder(tmp_path / "downloads")
    monkeypatch.chdir(made.path)
    return made


def ended(command: Sequence[str], **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
    return subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def test_control_a_plain_process_runs_them(folder: Folder) -> None:
    ended([sys.executable, "-c", "import " + ", ".join(NAMES)])
    assert folder.taken() == {*NAMES}
    ended([sys.executable, "-c", ""], PYTHONPATH=str(folder.path))
    assert "sitecustomize" in folder.taken()
    ended([sys._base_executable, "-c", ""], PYTHONUSERBASE=".local")  # type: ignore[attr-defined]
    assert "pth" in folder.taken()
    told = ended([sys.executable, "-P", "-c", "import numba; print(numba.config.CACHE_DIR)"])
    assert told.stdout.strip() == "compiled-by-a-stranger"


@pytest.mark.sampled
@pytest.mark.parametrize("environment", ["plain", "hostile"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_no_process_of_the_program_does(
    program: str, environment: str, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    if environment == "hostile":
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", ".", str(folder.path)]))
        monkeypatch.setenv("PYTHONUSERBASE", ".local")
        monkeypatch.setenv("PYTHONHOME", str(folder.path))
    arguments = ["--key=none.pem", "--purpose=audit"] if program.endswith("server") else []
    done = subprocess.run(
        program_command(program, *arguments), env=program_environment(), stdin=subprocess.DEVNULL, capture_output=True
    )
    assert done.returncode == (1 if arguments else 0), done.stderr.decode()
    assert folder.taken() == set()


@pytest.mark.slow
def test_the_commands_do_not(digits_job: Job, folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    order, run, one = str(digits_job.order), str(digits_job.run), ["--threads", "1"]
    small = ["--steps", "1", "--width", "2", "--batch-size", "4", "--checkpoint-every", "1", "--no-trial"]
    commands = (
        ["keygen", "a.pem", "--no-passphrase"],
        ["order", "digits-cnn", "--out", "o.cfoil", "--key", "a.pem", *small],
        ["sign-order", "o.cfoil", "--key", "a.pem", "--force"],
        ["train", "o.cfoil", "--out", "r.cfoil", "--key", "a.pem", *one],
        ["audit", run, "--order", order, "--workers", "1", "--verdict", "v.json", "--key", "a.pem", *one],
        ["export", "svr", "v.json", "--key", "a.pem", "--verdict-key", "a.pub.pem", "--out", "s.json"],
        ["withdraw", "v.json", "--key", "a.pem", "--reason", "a try", "--out", "w.json"],
    )
    for command in commands:
        assert main(command) == 0, (command, capsys.readouterr())
        assert folder.taken() == set(), command


def test_the_command_itself_does_not(folder: Folder) -> None:
    script = Path(sys.executable).with_name("counterfoil")
    by_name = [[str(script)]] if script.exists() else []
    modules = [[sys.executable, "-m", name] for name in ("counterfoil", "counterfoil.cli")]
    for number, begun in enumerate([*modules, *by_name]):
        done = ended([*begun, "keygen", f"{number}.pem", "--no-passphrase"])
        assert done.returncode == 0, done.stderr
        assert folder.taken() == set(), begun


@pytest.mark.slow
def test_the_window_does_not(digits_job: Job, folder: Folder, qapp: QApplication) -> None:
    engine = ProcessEngine()
    try:
        *_, last = engine.audit(AuditRequest(digits_job.run, None, "cpu", threads=1), CancelToken())
        assert isinstance(last, AuditFinished)
        assert last.report.outcome is Outcome.VERIFIED
    finally:
        engine.close()
    assert folder.taken() == set()
    assert print_report(contents(FakeEngine())).startswith(b"%PDF-")
    assert folder.taken() == set()


def test_compiled_code_of_a_stranger_is_not_loaded(folder: Folder) -> None:
    code = (
        "from counterfoil_core.kernels.cache import numba; print(repr(numba.config.CACHE_DIR)); "
        "numba.config.reload_config()"
    )
    told = ended([sys.executable, "-P", "-W", "error", "-c", f"{code}; print(repr(numba.config.CACHE_DIR))"])
    assert told.stdout.split() == ["''", "''"], told.stderr
    kept = ended([sys.executable, "-P", "-c", f"{code}; print(numba.config.CACHE_DIR)"], NUMBA_CACHE_DIR="mine")
    assert kept.stdout.split()[-1] == "mine", "the control: what the user says counts"


def test_a_source_tree_that_is_found_by_pythonpath_works(folder: Folder) -> None:
    """Here the processes find the program where this one did, also if that is no installation."""
    tree = folder.path.with_name("tree")
    tree.mkdir()
    for package in PACKAGES:
        (tree / package.name).symlink_to(package)
    code = (
        "import counterfoil, subprocess, sys\n"
        "from counterfoil.talk.programs import program_command, program_environment\n"
        "assert counterfoil.__path__[0].startswith(sys.argv[1]), counterfoil.__path__\n"
        "command = program_command('counterfoil.audit.parts.worker')\n"
        "assert sys.argv[1] in command[-2].split(':'), command\n"
        "sys.exit(subprocess.run(command, env=program_environment(), stdin=subprocess.DEVNULL).returncode)\n"
    )
    done = ended([sys.executable, "-P", "-c", code, str(tree)], PYTHONPATH=str(tree))
    assert done.returncode == 0, done.stderr
    assert folder.taken() == set()


def test_a_frozen_program_starts_itself(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    frozen = folder.path.with_name("counterfoil")
    frozen.write_text(
        f"#!{sys.executable} -I\nimport sys; sys.frozen = True\n"
        "from counterfoil.cli import main\nif __name__ == '__main__': sys.exit(main())\n"
    )
    frozen.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(frozen))
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert program_command("counterfoil.signer.server")[:2] == [str(frozen), FROZEN_MARK]
    assert main(["keygen", "b.pem", "--no-passphrase"]) == 0, capsys.readouterr()
    assert folder.taken() == set()
    stranger = ended([str(frozen), FROZEN_MARK, "sitecustomize"])
    assert "is no program of Counterfoil" in stranger.stderr


def test_every_process_is_started_by_the_one_function() -> None:
    """Who runs Python, or starts a process at all, stands here; multiprocessing is forbidden by a contract."""
    runs_python, starts = set(), set()
    for source in SOURCES:
        for path in source.rglob("*.py"):
            name = path.relative_to(source.parent).as_posix()
            text = path.read_text(encoding="utf-8")
            if not re.search(r"\b(executable|subprocess|system|popen)\b", text):
                continue
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                    if (node.value.id, node.attr) == ("sys", "executable"):
                        runs_python.add(name)
                    if (node.value.id, node.attr) in {("subprocess", "Popen"), ("subprocess", "run")}:
                        starts.add(name)
                    assert (node.value.id, node.attr) not in {("os", "system"), ("os", "popen")}, name
    assert runs_python == {
        "counterfoil/talk/programs.py",
        "counterfoil/signer/environment.py",  # the command that runs, again, without a passphrase in its environment
    }
    for name in starts:
        source = next(each for each in SOURCES if each.name == name.split("/")[0])
        # The other one takes its command, and lets one variable of Python's through that no stranger sets.
        text = (source.parent / name).read_text(encoding="utf-8")
        assert "program_command(" in text or "hashing_otherwise(" in text, name
    assert "-P" in hashing_otherwise("counterfoil.signer.server")[0]
    assert shlex.join(program_command("counterfoil.signer.server")).count(" -P ") == 1


def test_ray_does_not_let_its_workers_look_there(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """It hands the folder that one is in to all its workers, as the first in which they look for modules."""
    handed: list[str] = []
    ray = SimpleNamespace(
        is_initialized=lambda: False,
        init=lambda **_settings: handed.append(os.path.abspath(os.curdir)),
        cluster_resources=lambda: {"CPU": 1.0},
        shutdown=lambda: None,
    )
    monkeypatch.setattr(rayexec, "_ray", lambda: ray)
    rayexec.RayActors("auto", Task("run.cfoil"), None, 1)
    assert handed == [os.path.abspath(os.sep)]
    assert Path.cwd() == folder.path
