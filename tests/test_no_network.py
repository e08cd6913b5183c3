"""No part of the program opens a connection unless it was asked to: every process of it is listened to.

An interpreter of the test's own starts all of them: what it loads first writes down each connection that Python is
asked for (PEP 578), before a box is closed, in every process alike. Sockets of this machine's own (AF_UNIX) are none.
Who asks for a time stamp, a run that lies elsewhere, a Ray cluster or an engine on another machine names it.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

import pytest

import counterfoil

HOOK = """
import os, sys
_there = os.open({told!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
def _tell(text):
    os.write(_there, f"{{os.getpid()}} {{text}}\\n".encode())
_ASKS = {{"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}}
_SENDS = {{"socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"}}
def _listen(event, arguments):
    if event in _ASKS or (event in _SENDS and int(getattr(arguments[0], "family", 0)) != 1):
        _tell(f"{{event}} {{arguments if event in _ASKS else arguments[1:]!r}}")
sys.addaudithook(_listen)
_tell("begun")
"""

_ANY = None, 0, 0, 0
"""What is asked for of a name: any port, family, kind and protocol."""


class Listener:
    """An interpreter whose processes are listened to.

    Args:
        folder: Where it goes.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._told = folder / "told"
        venv.EnvBuilder(with_pip=False, symlinks=True).create(folder / "python")
        self.python = folder / "python" / "bin" / "python"
        (site,) = (folder / "python" / "lib").glob("python*/site-packages")
        (site / "listening_to_sockets.py").write_text(HOOK.format(told=str(self._told)))
        (site / "a.pth").write_text("import listening_to_sockets\n")
        # Processes of the program have no PYTHONPATH: what this one finds they find here.
        own = [path for path in sys.path if path and os.path.isdir(path) and "site-packages" in path]
        roots = [str(Path(counterfoil.__file__).parents[1])]
        roots += [str(Path(roots[0]).parent / name) for name in ("app", "resources")]
        (site / "b.pth").write_text("\n".join([*(each for each in roots if os.path.isdir(each)), *own]) + "\n")

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the interpreter in the folder."""
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "QT_QPA_PLATFORM": "offscreen"}
        environment.pop("COUNTERFOIL_SANDBOX", None)
        environment["XDG_STATE_HOME"] = str(self.folder / "state")
        return subprocess.run(
            [str(self.python), *words], cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )

    def heard(self) -> list[str]:
        """The connections that somebody asked for."""
        return [line for line in self._told.read_text().splitlines() if not line.endswith(" begun")]

    @property
    def processes(self) -> int:
        """How many processes were listened to."""
        return self._told.read_text().count(" begun\n")


@pytest.fixture
def listener(tmp_path: Path) -> Listener:
    return Listener(tmp_path)


@pytest.mark.parametrize(
    "code",
    [
        "s.connect(('127.0.0.1', 9))", "s.connect_ex(('127.0.0.1', 9))", "socket.create_connection(('127.0.0.1', 9))",
        "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))", "socket.getaddrinfo('localhost', 9)",
        "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9')",
    ],
)  # fmt: skip
def test_control_whoever_connects_is_heard(code: str, listener: Listener) -> None:
    listener.run("-P", "-E", "-c", f"import socket; s = socket.socket(); {code}")
    assert listener.heard()


def test_control_a_socket_of_this_machines_own_is_none(listener: Listener) -> None:
    listener.run("-c", "import socket; socket.socket(socket.AF_UNIX).connect_ex('nowhere'); socket.socketpair()")
    assert listener.processes == 1
    assert listener.heard() == []


def test_control_processes_of_the_program_are_listened_to(listener: Listener) -> None:
    code = """
import subprocess
from counterfoil.talk.programs import program_command, program_environment
command = program_command("counterfoil.doctor.boxprobe")
subprocess.run(command, env=program_environment(), capture_output=True, check=True)
"""
    done = listener.run("-c", code)
    assert done.returncode == 0, done.stderr
    assert listener.processes == 2


COMMANDS = (
    "keygen trainer.pem --no-passphrase",
    "keygen auditor.pem --no-passphrase",
    "order logistic --out job.cfoil --steps 4 --checkpoint-every 2",
    "inspect job.cfoil",
    "train job.cfoil --out run.cfoil --key trainer.pem",
    "inspect run.cfoil --order job.cfoil",
    "plan run.cfoil --order job.cfoil",
    "audit run.cfoil --order job.cfoil --verdict run.verdict.json --key auditor.pem --workers 2",
    "verify run.verdict.json run.cfoil --key auditor.pub.pem",
    "export weights run.cfoil --safetensors weights",
    "verify-weights weights run.cfoil --verdict run.verdict.json --key auditor.pub.pem",
    "--version --verbose",
    "doctor --json",
)
GOLDEN = Path(__file__).parent / "engine" / "golden"


def run_all(commands: Sequence[str], listener: Listener) -> None:
    for command in commands:
        done = listener.run("-P", "-m", "counterfoil", *command.split())
        assert done.returncode == 0, (command, done.stderr, done.stdout)
    assert listener.processes > len(commands)


def test_an_audit_connects_to_nobody(listener: Listener) -> None:
    """It starts what replays, a worker in a box, and what signs."""
    run_all(
        (
            "keygen auditor.pem --no-passphrase",
            f"audit {GOLDEN / 'digits.run.cfoil'} --verdict run.verdict.json --key auditor.pem --segments 1",
        ),
        listener,
    )
    assert listener.heard() == []


@pytest.mark.slow
def test_the_commands_connect_to_nobody(listener: Listener) -> None:
    run_all(COMMANDS, listener)
    # The examination looks whether an address is found by this machine's own name, and asks for no other.
    own = {f"socket.gethostbyaddr {(socket.gethostname(),)!r}", f"socket.getaddrinfo {(socket.getfqdn(), *_ANY)!r}"}
    assert {line.partition(" ")[2] for line in listener.heard()} == own


SCRIPT = """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.randn(3, 4, 3):
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()
"""


@pytest.mark.slow
def test_the_runs_of_a_script_connect_to_nobody(listener: Listener) -> None:
    (listener.folder / "train.py").write_text(SCRIPT)
    done = listener.run(
        "-P", "-m", "counterfoil", *["order", "--script", "train.py", "--out", "job.cfoil", "--no-trial"]
    )
    assert done.returncode == 0, done.stderr
    assert "Compared with the script in all 3 steps." in done.stdout
    # The command, in which it is followed, and the two in which it runs as it is.
    assert listener.processes == 3
    assert listener.heard() == []


@pytest.mark.slow
def test_the_window_connects_to_nobody(listener: Listener) -> None:
    """The demonstration: orders, records, opens, replays and signs in the window, and reads the verdicts."""
    done = listener.run("-P", "-m", "counterfoil", "demo", "--folder", "demo", "--steps", "6")
    assert done.returncode == 0, done.stderr
    assert listener.processes > 4
    assert listener.heard() == []
