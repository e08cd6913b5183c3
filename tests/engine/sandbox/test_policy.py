"""What a box lets through, as data; and how much memory there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterfoil.sandbox.box import DEVICES, SYSTEM, make_policy
from counterfoil_core.base import memory


def test_the_job_the_installation_and_the_system_are_read() -> None:
    policy = make_policy(
        ["/runs/a.cfoil"], ["/state"], installation=["/usr", "/opt/python"], home="/somewhere/x", memory=7
    )
    assert set(policy.reads) == {*SYSTEM, "/usr", "/opt/python", "/runs/a.cfoil"}
    assert policy.writes == ("/state",)
    assert policy.devices == DEVICES
    assert policy.memory == 7


def test_an_installation_never_opens_the_users_folder() -> None:
    # PYTHONPATH=~, or the current folder in sys.path.
    places = ["/", "/somewhere", "/somewhere/x", "relative", "", "/somewhere/x/.venv/lib", "/somewhere/xy"]
    policy = make_policy([], installation=places, home="/somewhere/x")
    assert set(policy.reads) - set(SYSTEM) == {"/somewhere/x/.venv/lib", "/somewhere/xy"}


@pytest.mark.parametrize("paths", [(["run.cfoil"], []), ([], ["state"]), ([""], [])])
def test_paths_of_a_job_are_absolute(paths: tuple[list[str], list[str]]) -> None:
    with pytest.raises(ValueError, match="not absolute"):
        make_policy(*paths, installation=[], home="/somewhere/x")


def test_nothing_of_the_system_is_anybodys_own() -> None:
    for path in (*SYSTEM, *DEVICES):
        assert not path.startswith(("/somewhere", "/root", "/tmp", "/var", "/run", "/dev/shm")), path
    assert "/proc" not in SYSTEM
    assert "/etc" not in SYSTEM
    assert "/dev" not in SYSTEM


def test_memory_that_can_be_taken() -> None:
    text = "MemTotal: 100 kB\nMemAvailable:   40 kB\nSwapFree: 2 kB\nHugePages_Total: 0\n"
    assert memory.available_in(text) == 42 * 1024
    assert memory.available_in("MemTotal: 100 kB\n") is None


@pytest.mark.parametrize(
    ("groups", "files", "limits"),
    [
        ("0::/a/b\n", {"a/memory.max": "500", "a/memory.current": "20", "a/b/memory.max": "max"}, [(500, 20)]),
        (
            "4:cpu,memory:/c\n",
            {"memory/c/memory.limit_in_bytes": "9", "memory/c/memory.usage_in_bytes": "1"},
            [(9, 1)],
        ),
        ("0::/\n", {"memory.max": "700", "memory.current": "1"}, [(700, 1)]),
        ("", {}, []),
    ],
)
def test_limits_of_a_container(tmp_path: Path, groups: str, files: dict[str, str], limits: list[object]) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert list(memory._limits(groups, tmp_path)) == limits


def test_a_container_has_less_than_its_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = memory.memory_total()
    assert alone is not None
    monkeypatch.setattr(memory, "_limits", lambda *_: iter([(2**20, 2**19)]))
    assert memory.memory_total() == 2**20
    assert memory.memory_available() == 2**19
