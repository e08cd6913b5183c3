"""Worlds of a few ranks on this machine: forks of one process that has loaded everything, which talk over gloo.

Each rank records an order by :func:`counterfoil.record` and says how it ended. What it does to itself meanwhile, as to
die in a step, is given as a word.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from counterfoil.cli import monitor
from counterfoil.cli.places import READS, RECORDS, WRITES_LOG, Given, NamedFile
from counterfoil.sandbox.box import SWITCH

ROOT = Path(__file__).parents[2]
KEY_SEED = bytes(32)
LONGEST_SECONDS = 100.0
"""A world that takes longer hangs."""
SILENT_SECONDS = 4.0
"""After which a rank is lost here, where no network is slow."""
AFTER_RANK_0_SECONDS = 20.0
"""So do others that take longer when rank 0 has ended."""


@dataclass(frozen=True)
class RankEnd:
    """How a rank ended.

    Attributes:
        code: Its exit code; negative where a signal ended it.
        events: The names of the events that it yielded, progress within steps left out.
        root: The run root.
        error: The class of what it raised.
        sentence: Its sentence.
        remedy: Its remedy.
        seconds: How long it took.
    """

    code: int
    events: Sequence[str] = ()
    root: str = ""
    error: str = ""
    sentence: str = ""
    remedy: str = ""
    seconds: float = 0.0


class Worlds:
    """Starts worlds; use it as a context manager.

    Args:
        boxed: Whether each rank of several closes a box around itself, as ``train`` does.
    """

    def __init__(self, *, boxed: bool = False) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "support.worlds"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "OMP_NUM_THREADS": "1",
                "PYTHONPATH": os.pathsep.join(sys.path),
                SWITCH: "" if boxed else "off",
            },
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def record(
        self,
        size: int,
        order: Path,
        run: Path,
        *,
        resume: bool = False,
        heads: Path | None = None,
        others: Mapping[int, Mapping[str, Any]] | None = None,
    ) -> list[RankEnd]:
        """Record an order by some ranks; 1 is a process alone.

        Args:
            size: How many.
            order: The order.
            run: The run.
            resume: Whether a recording is gone on with.
            heads: Where tree heads go.
            others: What is special about some ranks: ``order``, ``version``; and in a ``step`` an ``event``: ``kill``,
                ``kill later`` (in its update), ``memory``, ``cancel``, ``freeze``, ``otherwise`` (the update comes out
                otherwise), ``junk`` (from this step on what it signs is not signed); from this step on, where its
                part of the sum is concerned: ``adds`` (-3 times its gradient, and sends what it should when it is
                asked), ``lies`` (it sends the same -3 times then, too), ``silent`` (it sends nothing then), ``signs``
                (it adds that and hashes it), ``exponents`` (it says larger ones), ``hashes`` (it hashes something
                else), ``tells`` (it tells all of another record than it gives), ``shows`` (where shares lie side by
                side it shows another, and sends the same when it is asked),
                ``altered`` (what it shows is not what it sends then); ``parties``: the seeds of keys of parties, in
                hex, by their shares; ``trusts``: whether the ranks are believed what they add.

        Returns:
            How each ended.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        common = {
            "order": str(order),
            "run": str(run),
            "resume": resume,
            "heads": None if heads is None else str(heads),
        }
        jobs = [{**common, **(others or {}).get(rank, {})} for rank in range(size)]
        self._process.stdin.write(json.dumps(jobs, default=str) + "\n")
        self._process.stdin.flush()
        return [RankEnd(**each) for each in json.loads(self._process.stdout.readline())]


def _serve() -> None:
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    from counterfoil.distributed import liveness, ranks
    from counterfoil.training import execution, recorder, together  # noqa: F401
    from support.jobs import self_tests_remembered

    with FakeTensorMode():
        torch.ones(2).add(1)
    os.fsync = lambda _handle: None
    liveness.SILENT_SECONDS = SILENT_SECONDS
    ranks.ANSWER_SECONDS = together.ANSWER_SECONDS = SILENT_SECONDS
    with self_tests_remembered(execution):
        for line in sys.stdin:
            jobs = json.loads(line)
            # One that is alone loads the kernels for all that are forked from here later.
            ends = [_tried(0, jobs[0])] if len(jobs) == 1 else _world(jobs)
            gc.collect()
            gc.freeze()
            print(json.dumps([asdict(end) for end in ends]), flush=True)


def _world(jobs: list[dict[str, Any]]) -> list[RankEnd]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        children = []
        for rank, job in enumerate(jobs):
            child = os.fork()
            if not child:
                _rank(rank, len(jobs), port, job, Path(folder, str(rank)))
            children.append(child)
        codes = _codes(children)
        found = []
        for rank, code in enumerate(codes):
            said = Path(folder, str(rank)).read_text()
            found.append(replace(RankEnd(**json.loads(said)), code=code) if said else RankEnd(code))
        return found


def _codes(children: list[int]) -> list[int]:
    """Wait for children; whoever hangs, as one that was told to, is killed some time after rank 0 has ended."""
    end, codes = time.monotonic() + LONGEST_SECONDS, dict[int, int]()
    while len(codes) < len(children):
        for child in children:
            if child not in codes and (ended := os.waitpid(child, os.WNOHANG))[0]:
                codes[child] = os.waitstatus_to_exitcode(ended[1])
                if child == children[0]:
                    end = min(end, time.monotonic() + AFTER_RANK_0_SECONDS)
        for child in children if time.monotonic() > end else ():
            if child not in codes:
                os.kill(child, signal.SIGKILL)
        time.sleep(0.01)
    return [codes[child] for child in children]


def _rank(rank: int, size: int, port: int, job: dict[str, Any], said: Path) -> None:
    """Be a rank, and end."""
    os.environ.update(
        RANK=str(rank), WORLD_SIZE=str(size), LOCAL_RANK=str(rank), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port)
    )
    os.dup2(2, 1)
    with said.open("w") as answer:
        places = [NamedFile("ORDER", Path(job["order"]), READS), NamedFile("--out", Path(job["run"]), RECORDS)]
        places += [NamedFile("--heads", Path(job["heads"]), WRITES_LOG)] if job["heads"] else []
        with monitor.within(Given(tuple(places), writes=not rank, among_ranks=True)):
            end = _tried(rank, job)
        answer.write(json.dumps(asdict(end)))
    os._exit(end.code)


def _tried(rank: int, job: Mapping[str, Any]) -> RankEnd:
    begun, events = time.monotonic(), list[str]()
    try:
        end = RankEnd(0, root=_recorded(rank, job, events))
    except BaseException as error:
        said = getattr(error, "sentence", str(error)), getattr(error, "remedy", "")
        end = RankEnd(1, error=type(error).__name__, sentence=said[0], remedy=said[1])
    return replace(end, events=events, seconds=time.monotonic() - begun)


def _recorded(rank: int, job: Mapping[str, Any], names: list[str]) -> str:
    """Record, take note of the events, and return the run root."""
    import torch

    import counterfoil
    from counterfoil.signing.privatekeys import key_from_seed
    from counterfoil.training import combination, execution
    from counterfoil.training.recorder import record
    from counterfoil.training.recordingevents import OperatorRecorded, RecordFinished
    from counterfoil_core.base.cancel import CancelToken

    torch.set_num_threads(1)
    counterfoil.__version__ = job.get("version", counterfoil.__version__)
    cancel, root = CancelToken(), ""

    if job.get("trusts"):
        combination._Sum.holds = lambda *_: True
    parties = {int(share): key_from_seed(bytes.fromhex(seed)) for share, seed in job.get("parties", {}).items()}

    def meddle(inputs: Any) -> Any:
        if inputs.draws.step != job.get("step"):
            return inputs
        match job["event"]:
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "kill later" if inputs.share is None:
                os.kill(os.getpid(), signal.SIGKILL)
            case "freeze":
                os.kill(os.getpid(), signal.SIGSTOP)
            case "memory":
                raise MemoryError
            case "junk":
                execution.sign_as_party = lambda *_: bytes(range(64))
            case "adds" | "tells" | "lies" | "silent" | "signs" | "exponents" | "hashes" | "shows" | "altered":
                _lie(job["event"])
            case "cancel":
                cancel.cancel()
            case "otherwise" if inputs.share is None:
                return replace(inputs, combined={name: each * 1.5 for name, each in inputs.combined.items()})
        return inputs

    events = record(
        job["order"],
        job["run"],
        None if rank else key_from_seed(KEY_SEED),
        threads=1,
        cancel=cancel,
        tamper=meddle if "event" in job else None,
        heads=None if rank else job["heads"],
        heads_every=1,
        resume=job["resume"],
        share_keys=parties,
        connect=monitor.connect(),
    )
    for event in events:
        if not isinstance(event, OperatorRecorded):
            names.append(type(event).__name__)
        if isinstance(event, RecordFinished):
            root = event.run_root.hex
    return root


@cache
def _lie(how: str) -> None:
    """Let this rank lie in what it sends of its shares, from now on; it records them as it should."""
    import numpy as np

    from counterfoil.distributed.ranks import Ranks
    from counterfoil.training import combination, together
    from counterfoil_core.arithmetic.linearhash import PRIME, LinearHash
    from counterfoil_core.kernels.exact.combine import exponents_of

    def lied(tensors: Mapping[str, Any]) -> dict[str, Any]:
        return {name: each * -3 for name, each in tensors.items()}

    begin, send, spread, hashes = Ranks.begin_sum, Ranks.hand_over, Ranks.spread, LinearHash.of_shares
    exponents = combination.common_exponents
    if how in ("adds", "lies", "silent", "signs"):
        Ranks.begin_sum = lambda ranks, total: begin(ranks, total.mul_(-3))
    if how in ("lies", "shows"):
        Ranks.hand_over = lambda ranks, tensors: send(ranks, lied(tensors))
    if how == "silent":
        Ranks.hand_over = lambda ranks, tensors: ranks.hear()
    if how in ("shows", "altered"):
        Ranks.spread = lambda ranks, tensors, source: spread(
            ranks, lied(tensors) if source == ranks.rank else tensors, source
        )
    if how == "tells":
        known = together.Together.known
        together.Together.known = lambda own, mine: known(own, [bytes([each[0] ^ 1]) + each[1:] for each in mine])
    if how == "exponents":
        combination.common_exponents = lambda given: exponents(given) + np.int32(3)
    if how == "hashes":
        LinearHash.of_shares = lambda own, share, given, common: hashes(own, share, lied(given), common)
    if how == "signs":
        honest = LinearHash.of_share

        def of_share(own: LinearHash, share: int, name: str, given: Any, exponent: int) -> int:
            said = own._weights(name, given.numel())[0][share] * int(exponents_of([given]))
            return (said - 3 * (honest(own, share, name, given, exponent) - said)) % PRIME

        LinearHash.of_share = of_share


if __name__ == "__main__":
    _serve()
