"""The workflows for contributors name commands, files and versions that are there, and say what was not run."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def commands(path: Path) -> str:
    jobs = read(path)["jobs"].values()
    return "\n".join(step["run"] for job in jobs for step in job["steps"] if "run" in step)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_target_is_one_of_the_makefile_or_asked_for_first(path: Path) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    text = commands(path)
    optional = set(re.findall(r"\^(\w+):", text)) | {"wheels", "package"}
    named = set(re.findall(r"\bmake ([a-z-]+)", text))
    assert named
    assert named <= targets | optional, named - targets


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_file_that_is_named_is_there(path: Path) -> None:
    named = re.findall(r"\b((?:packaging|tests)/[\w/.]+|tests/\w+)", commands(path))
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_versions_are_those_that_the_project_supports() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    jobs = read(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]
    pythons = jobs["tests"]["strategy"]["matrix"]["python"]
    assert project["requires-python"] == f">={pythons[0]},<3.{int(pythons[-1].split('.')[1]) + 1}"
    (torch,) = [each for each in project["dependencies"] if each.startswith("torch")]
    assert jobs["torch"]["strategy"]["matrix"]["torch"][0] == f"{torch.removeprefix('torch>=')}.*"


def test_what_was_never_run_says_so_and_fails_nothing() -> None:
    jobs = read(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]
    for name in ("other-systems", "aarch64"):
        assert jobs[name]["name"].endswith("(not run yet)")
        assert jobs[name]["continue-on-error"] is True


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_workflow_may_write_but_the_draft_of_a_release(path: Path) -> None:
    found = read(path)
    assert found["permissions"] == {"contents": "read"}
    writing = {name for name, job in found["jobs"].items() if "write" in str(job.get("permissions", ""))}
    assert writing <= {"draft"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_action_is_one_commit_and_none_keeps_credentials(path: Path) -> None:
    steps = [step for job in read(path)["jobs"].values() for step in job["steps"] if "uses" in step]
    assert steps
    for step in steps:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"]), step["uses"]
        if step["uses"].startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


def test_actionlint_finds_nothing() -> None:
    program = shutil.which("actionlint")
    if program is None:
        pytest.skip("actionlint is not installed")
    done = subprocess.run([program, *map(str, FILES)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
