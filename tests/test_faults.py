"""The campaign of failing calls: what fails is what was asked for, and what is wrong is seen. A few of its faults."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from faults import jobs, shim
from faults.table import table
from faults.trial import Campaign, Fault, Tried
from support.fork_server import Ended, ForkServer

pytestmark = pytest.mark.skipif(not shim.can_preload(), reason="needs Linux with GNU's C library, and gcc")
TESTS = Path(__file__).parent
FAULTS = 60

READING = """
import json, os, sys
from faults import shim
fault = json.loads(sys.argv[1])
shim.begin(fault)
found = []
for number in range(3):
    try:
        descriptor = os.open("data", os.O_RDONLY)
        found.append(len(os.read(descriptor, 10)))
        os.close(descriptor)
    except (OSError, MemoryError) as error:
        found.append(getattr(error, "errno", "memory"))
try:
    found.append(len(bytearray(1 << 20)))
except MemoryError:
    found.append("memory")
shim.end(fault)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shim.build(tmp_path_factory.mktemp("shim"))


@pytest.mark.parametrize(
    ("fault", "found", "failed"),
    [
        ({}, [10, 10, 10, 1 << 20], 0),
        ({"kind": "read", "call": 2, "number": errno.EIO}, [10, errno.EIO, 10, 1 << 20], 1),
        ({"kind": "read", "call": 2, "number": errno.EIO, "lasting": True}, [10, errno.EIO, errno.EIO, 1 << 20], 2),
        ({"kind": "read", "call": 1, "half": True}, [5, 10, 10, 1 << 20], 1),
        ({"kind": "read", "call": 1, "number": errno.EINTR}, [10, 10, 10, 1 << 20], 1),  # Python tries again
        ({"kind": "open", "call": 3, "number": errno.EMFILE}, [10, 10, errno.EMFILE, 1 << 20], 1),
        ({"kind": "allocate much", "call": 1, "number": errno.ENOMEM, "lasting": True}, [10, 10, 10, "memory"], 1),
        ({"kind": "read", "call": 1, "number": errno.EIO, "children": True}, [10, 10, 10, 1 << 20], None),
    ],
    ids=str,
)
def test_what_fails_is_what_was_asked_for(
    library: Path, tmp_path: Path, fault: dict[str, Any], found: list[Any], failed: int | None
) -> None:
    (tmp_path / "data").write_bytes(bytes(20))
    report = tmp_path / "report"
    plain = {"kind": "", "call": 0, "number": 0, "half": False, "lasting": False, "children": False}
    asked = {**plain, **fault, "folder": str(tmp_path), "report": str(report)}
    environment = {**os.environ, "LD_PRELOAD": str(library), "PYTHONPATH": str(TESTS)}
    command = [sys.executable, "-c", READING, json.dumps(asked)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == found
    assert (json.loads(report.read_text())["failed"] if report.exists() else None) == failed


class _Forged(ForkServer):
    """Ends as it is told, and leaves what it is told."""

    def __init__(self, ends: list[tuple[int | None, str]], left: str) -> None:
        self._ends, self._left = ends, left

    def run(self, *arguments: object, fault: Any = None, **_: Any) -> Ended:
        code, said = self._ends.pop(0)
        if self._left:
            Path(fault["folder"], self._left).write_text("torn")
        return Ended(code, said, 1.0)


@pytest.mark.parametrize(
    ("ends", "left", "wrong"),
    [
        ([(4, "no room"), (0, "")], "", []),
        ([(3, "refused"), (0, "")], "", ["it ended with 3"]),
        ([(4, "This is a bug."), (0, "")], "", ["it says that it is a bug"]),
        ([(0, "")], "", ["steps.csv is missing"]),
        ([(None, "killed"), (0, "")], "steps.csv", ["steps.csv is not whole"]),
        ([(4, "no room"), (0, "")], ".steps.csv.0123456789abcdef.part", ["was left behind"]),
        ([(4, "no room"), (4, "no")], "", ["afterwards: it ended with 4"]),
    ],
    ids=str,
)
def test_what_would_be_wrong_is_seen(
    tmp_path: Path, ends: list[tuple[int | None, str]], left: str, wrong: list[str]
) -> None:
    campaign = Campaign.__new__(Campaign)
    campaign._folder, campaign._server, campaign._number = tmp_path, _Forged(ends, left), 0
    campaign._truth = {"export csv": {}}
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "run.cfoil").touch()
    tried = campaign.try_one(Fault("export csv", "write", 1, errno.ENOSPC))
    assert len(tried.wrong) == len(wrong), tried.wrong
    assert all(words in sentence for words, sentence in zip(wrong, tried.wrong, strict=True)), tried.wrong
    assert Tried.of(tried.line) == tried


@pytest.mark.slow
def test_some_faults(library: Path, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    environment = {"LD_PRELOAD": str(library), "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    with ForkServer(environment) as server:
        jobs.prepare(tmp_path / "files", server)
        campaign = Campaign(tmp_path, server)
        tried = [campaign.try_one(fault) for fault in campaign.faults(FAULTS, seed=7)]
    assert [each for each in tried if each.wrong] == []
    # Most of them do fail, or nothing would be shown.
    assert sum(each.failed != 0 for each in tried) > FAULTS / 2
    assert "0 ended wrong" in table(tried, 7)
