"""The signer asks for the passphrase on the terminal itself: the command that reads files never has it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from counterfoil.signing.privatekeys import generate_key, load_private_key
from counterfoil_core.values.outcome import Outcome

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="pseudo-terminals, as Linux gives them")
SECRET = "correct horse"
SECONDS = 60
# Makes the pseudo-terminal that of the process, and lets Ctrl-C end it, as a shell's window does: who runs tests in the
# background hands on that it is ignored.
IN_TERMINAL = (
    "import fcntl, os, signal, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "os.execv(sys.executable, [sys.executable, '-m', 'counterfoil.cli', *sys.argv[1:]])"
)


class Terminal:
    """A command in a terminal of its own."""

    def __init__(self, *arguments: object) -> None:
        self._master, slave = os.openpty()
        command = [sys.executable, "-c", IN_TERMINAL, *map(str, arguments)]
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave)
        self._slave = slave
        self.shown = ""

    def wait_for(self, pattern: str) -> None:
        deadline = time.monotonic() + SECONDS
        while not re.search(pattern, self.shown):
            assert time.monotonic() < deadline, self.shown
            self.shown += os.read(self._master, 1024).decode(errors="ignore")

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def end(self) -> int:
        """Wait for the end, and return the exit code; reads meanwhile, since a full terminal would stop the command."""
        os.set_blocking(self._master, False)
        deadline = time.monotonic() + SECONDS
        running = True
        while running:
            running = self.process.poll() is None
            assert time.monotonic() < deadline, self.shown
            with suppress(BlockingIOError):
                while piece := os.read(self._master, 4096):
                    self.shown += piece.decode(errors="ignore")
            time.sleep(0.02)
        return self.process.wait()

    @property
    def echoes(self) -> bool:
        import termios

        return bool(termios.tcgetattr(self._slave)[3] & termios.ECHO)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)
        os.close(self._slave)


@pytest.fixture
def open_terminal() -> Iterator[type[Terminal]]:
    made: list[Terminal] = []

    class Made(Terminal):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments)
            made.append(self)

    yield Made
    for terminal in made:
        terminal.close()


def test_a_key_is_made(open_terminal: type[Terminal], tmp_path: Path) -> None:
    terminal = open_terminal("keygen", tmp_path / "a.pem")
    terminal.wait_for("New passphrase: ")
    terminal.type(SECRET + "\n")
    terminal.wait_for("The same again: ")
    terminal.type(SECRET + "\n")
    assert terminal.end() == 0, terminal.shown
    assert SECRET not in terminal.shown
    assert load_private_key(tmp_path / "a.pem", SECRET)


@pytest.mark.parametrize("typed", [SECRET, "wrong"])
def test_it_asks_before_the_file_is_opened(open_terminal: type[Terminal], tmp_path: Path, typed: str) -> None:
    generate_key(tmp_path / "a.pem", SECRET)
    run, verdict = tmp_path / "none.cfoil", tmp_path / "v.json"
    terminal = open_terminal("audit", run, "--verdict", verdict, "--key", tmp_path / "a.pem")
    terminal.wait_for(r"Passphrase of 'a\.pem': ")
    assert "none.cfoil" not in terminal.shown
    assert not terminal.echoes
    terminal.type(typed + "\n")
    assert terminal.end() == Outcome.ERROR.exit_code, terminal.shown
    assert ("There is no file" in terminal.shown) is (typed == SECRET)
    assert ("is wrong" in terminal.shown) is (typed == "wrong")
    assert SECRET not in terminal.shown
    assert terminal.echoes


@pytest.mark.parametrize("sealing", [False, True])
def test_ctrl_c_at_the_question(open_terminal: type[Terminal], tmp_path: Path, sealing: bool) -> None:
    key = tmp_path / "a.pem"
    if sealing:
        terminal = open_terminal("keygen", "--sealing", key)
    else:
        generate_key(key, SECRET)
        terminal = open_terminal("audit", tmp_path / "n", "--verdict", tmp_path / "v", "--key", key)
    terminal.wait_for("[Pp]assphrase")
    terminal.type("\x03")
    assert terminal.end() == Outcome.INCONCLUSIVE.exit_code, terminal.shown
    assert "Stopped" in terminal.shown
    assert "Traceback" not in terminal.shown
    assert terminal.echoes, "what is typed next is seen again"
    assert key.exists() is not sealing
