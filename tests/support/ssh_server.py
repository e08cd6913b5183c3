"""An ssh server of its own on this machine, with a host key and one user's key in a folder."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from counterfoil_app.engine.elsewhere import Elsewhere

HOST = "127.0.0.1"
SECONDS = 30.0


@dataclass(frozen=True)
class SshServer:
    """Where it listens, and what reaches it.

    Attributes:
        folder: Its files.
        port: Its port.
    """

    folder: Path
    port: int

    def place(self, *, key: str = "user", known: str = "known") -> Elsewhere:
        """The machine, as somebody reaches it who has a key and knows some hosts."""
        config = self.folder / f"ssh_config_{key}_{known}"
        config.write_text(
            f"IdentityFile {self.folder / key}\nIdentitiesOnly yes\nUserKnownHostsFile {self.folder / known}\n"
            "GlobalKnownHostsFile /dev/null\nStrictHostKeyChecking yes\n"
        )
        return Elsewhere(HOST, getpass.getuser(), self.port, config)


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        port: int = taken.getsockname()[1]
        return port


@contextmanager
def ssh_server(folder: Path) -> Iterator[SshServer]:
    """Start it, or skip the test where this machine has none that starts."""
    where = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"])
    sshd = shutil.which("sshd", path=where)
    if sshd is None or shutil.which("ssh") is None or shutil.which("ssh-keygen") is None:
        pytest.skip("openssh-server is not installed")
    folder.mkdir(mode=0o700)
    for name in ("host", "user", "stranger"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    server = SshServer(folder, _free_port())
    (folder / "authorized_keys").write_bytes((folder / "user.pub").read_bytes())
    kind, key, *_ = (folder / "host.pub").read_text().split()
    (folder / "known").write_text(f"[{HOST}]:{server.port} {kind} {key}\n")
    (folder / "nobody").write_text("")
    commands = Path(sys.executable).parent
    (folder / "sshd_config").write_text(
        f"Port {server.port}\nListenAddress {HOST}\nHostKey {folder / 'host'}\nPidFile none\n"
        f"AuthorizedKeysFile {folder / 'authorized_keys'}\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
        f"KbdInteractiveAuthentication no\nSetEnv PATH={commands}:/usr/bin:/bin\nPermitRootLogin yes\n"
    )
    command = [sshd, "-D", "-e", "-f", str(folder / "sshd_config")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        if not line.startswith("Server listening"):
            pytest.skip(f"sshd does not start: {line.strip()}")
        yield server
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(SECONDS)
        process.kill()
        process.wait()
        process.stderr.close()
