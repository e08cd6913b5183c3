"""Processes that compute, as forks of one that has loaded torch: to load it takes longer than what they do.

A server for each environment that libraries are loaded in forks twice, so that the process of the tests, which adopts
orphans meanwhile, is the parent: it waits for the program, and kills it, as for one that it started.
"""

from __future__ import annotations

import atexit
import ctypes
import fcntl
import gc
import json
import os
import random
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

PROGRAMS = (
    "counterfoil.audit.boxed.inside",
    "counterfoil.audit.boxed.lookup",
    "counterfoil.audit.parts.worker",
    "counterfoil.cli.orderprogram",
    "counterfoil.delivery.modelinbox",
    "counterfoil.training.admission",
    "counterfoil.training.following.plainrun",
    "counterfoil.training.secondlook",
    "counterfoil_app.engine.child",
)
"""Modules whose processes are forks of one that has loaded torch; a box that one closes is its own."""
SIGNERS = ("counterfoil.sealed.server", "counterfoil.signer.server")
"""Their processes are forks of one without torch, where a test is not of the process that holds a key."""
_LOADING = ("PYTHON", "TORCH", "PYTORCH", "ATEN", "OMP", "MKL", "KMP", "ONEDNN", "OPENBLAS", "NUMBA", "TRITON", "CUDA")
"""What variables begin with that count when Python starts, or a library is loaded."""
_ADOPT_ORPHANS = 36
"""PR_SET_CHILD_SUBREAPER of Linux."""
_MOST_BYTES = 2**17
_HIGH = 500
"""Numbers of descriptors that nobody asks for."""


class Subprocess:
    """What ``counterfoil.talk.process`` takes for the module ``subprocess``."""

    forks = True
    """Whether programs are forks."""

    def __getattr__(self, name: str) -> Any:
        return getattr(subprocess, name)

    def Popen(self, command: Sequence[str], **settings: Any) -> subprocess.Popen[bytes]:  # noqa: N802
        """Start a program, as a fork where it is one of those."""
        from counterfoil.talk import programs

        file = os.path.abspath(programs.__file__)
        if self.forks and file in command and command[list(command).index(file) + 2] in (*PROGRAMS, *SIGNERS):
            return _Forked(command, **settings)
        return subprocess.Popen(command, **settings)


class _Forked(subprocess.Popen):  # type: ignore[type-arg]
    def _execute_child(  # type: ignore[override]
        self, args, _executable, _preexec, _close, pass_fds, _cwd, env, _info, _flags, _shell,
        p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite,
        _signals, _gid, _gids, _uid, _umask, start_new_session, _group,
    ):  # fmt: skip
        from counterfoil.talk import programs

        place = list(args).index(os.path.abspath(programs.__file__))
        loading = tuple(sorted(item for item in env.items() if item[0].startswith(_LOADING)))
        which = tuple(args[:place]), loading, args[place + 2] in SIGNERS
        given = [own if own != -1 else number for number, own in enumerate((p2cread, c2pwrite, errwrite))]
        job = {
            "arguments": args[place:],
            "environment": dict(env),
            "folder": os.getcwd(),
            "leads": start_new_session,
            "descriptors": [0, 1, 2, *pass_fds],
        }
        prctl = ctypes.CDLL(None).prctl
        prctl(_ADOPT_ORPHANS, 1, 0, 0, 0)
        try:
            try:
                self.pid = _fork(_server(*which), job, [*given, *pass_fds])
            except OSError:
                # What a script starts is ended with it: so is a server that was started while one ran.
                _server.cache_clear()
                self.pid = _fork(_server(*which), job, [*given, *pass_fds])
        finally:
            prctl(_ADOPT_ORPHANS, 0, 0, 0, 0)
        self._child_created = True
        self._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)


def _fork(server: socket.socket, job: Mapping[str, Any], descriptors: Sequence[int]) -> int:
    """Have a server be a program; returns the number of its process."""
    socket.send_fds(server, [json.dumps(job).encode()], descriptors)
    said = server.recv(64)
    if not said:
        raise BrokenPipeError
    return int(said)


@cache
def _server(interpreter: tuple[str, ...], loading: tuple[tuple[str, str], ...], signs: bool) -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    rest = {name: value for name, value in os.environ.items() if not name.startswith(_LOADING)}
    subprocess.Popen(
        [*interpreter, __file__, str(theirs.fileno()), *["signs"] * signs],
        pass_fds=(theirs.fileno(),),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        # A process that has several threads cannot be copied.
        env={**rest, **dict(loading), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    theirs.close()
    return ours


def _load(signs: bool) -> None:
    if signs:
        from counterfoil.sealed import server as sealed  # noqa: F401
        from counterfoil.signer import gate, server  # noqa: F401
        from counterfoil.signing import privatekeys  # noqa: F401

        return
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    from counterfoil.audit.boxed import work  # noqa: F401
    from counterfoil.audit.parts import workplace  # noqa: F401
    from counterfoil.cli import app, orderprogram  # noqa: F401
    from counterfoil.training import recorder, secondlook  # noqa: F401
    from counterfoil_app.engine import port  # noqa: F401

    with FakeTensorMode():
        torch.ones(2).add(1)


def _serve(line: socket.socket) -> None:
    gc.collect()
    gc.freeze()
    while True:
        said, descriptors, _, _ = socket.recv_fds(line, _MOST_BYTES, 64)
        if not said:
            return
        reader, writer = os.pipe()
        between = os.fork()
        if not between:
            child = os.fork()
            if not child:
                line.close()
                _be(json.loads(said), descriptors)
            os.write(writer, str(child).encode())
            os._exit(0)
        os.close(writer)
        for each in descriptors:
            os.close(each)
        os.waitpid(between, 0)
        line.send(os.read(reader, 64))
        os.close(reader)


def _be(job: Mapping[str, Any], descriptors: Sequence[int]) -> None:
    """Be the program, to its end."""
    code = 1
    try:
        if job["leads"]:
            os.setsid()
        high = [fcntl.fcntl(each, fcntl.F_DUPFD, _HIGH) for each in descriptors]
        for each in descriptors:
            os.close(each)
        for each, number in zip(high, job["descriptors"], strict=True):
            os.dup2(each, number)
            os.close(each)
        os.environ.clear()
        os.environ.update(job["environment"])
        os.chdir(job["folder"])
        random.seed()
        from counterfoil.talk import programs

        sys.argv[:] = job["arguments"]
        code = programs._begin()
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        threading._shutdown()
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


if __name__ == "__main__":
    _load("signs" in sys.argv)
    _serve(socket.socket(fileno=int(sys.argv[1])))
