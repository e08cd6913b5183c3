"""What it costs to divide steps into shares, and shares among processes.

A GPT is recorded by one, two and more processes with one thread each; one process records and audits steps of one to
many shares; and a model with stated assumptions says what the exchange takes among many devices.
"""

from __future__ import annotations

import json
import os
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

import counterfoil
from benchmarks.measure import (
    Benchmark,
    Cell,
    Results,
    Sections,
    Values,
    argument,
    environment,
    figures,
    on_page,
    origins,
    run_command,
)
from benchmarks.pages import markdown
from counterfoil.audit.hearings import run_audit
from counterfoil.base.buckets import buckets
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil.training import execution
from counterfoil.training.combination import Combination
from counterfoil.training.exchange import Exchange, ShareDone
from counterfoil.training.order import OrderDraft
from counterfoil.training.recipes.gpt2 import Gpt2Size, order_gpt2
from counterfoil.training.recordingevents import StepRecorded
from counterfoil.training.tokens import Tokens
from counterfoil_core.order.executable import LoadedOrder
from counterfoil_core.values.events import AuditFinished, StepReplayed
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.request import AuditRequest

KEY = bytes(range(32))
SIZE = Gpt2Size(layers=4, heads=8, width=512, context=128, vocabulary=4096, dropout=0.0)
"""The GPT of the aims."""
SMALL = Gpt2Size(layers=2, heads=4, width=128, context=64, vocabulary=512, dropout=0.0)
"""The one that is divided into up to 64 shares."""
ROWS, SMALL_ROWS = 16, 64
STEPS = 4
"""Steps of a run; the first compiles and fills caches, and is not counted."""
MANY = (1, 2, 4, 8, 16, 32, 64)
BYTES_A_PARAMETER = 8
"""What travels of a parameter: an int64."""


@dataclass(frozen=True)
class Cost:
    """What a step takes, the median over the steps of a run but the first."""

    wall: float  #: Seconds.
    processor: float  #: Seconds of processor time of this process.


def draft(size: Gpt2Size, rows: int, shares: int = 1, micro_batches: int = 1) -> OrderDraft:
    """Return an order of random tokens; what they are is no matter here."""
    numbers = np.random.default_rng(0).integers(0, size.vocabulary, rows * 2 * (size.context + 1), np.int32)
    numbers[-1] = size.vocabulary - 1
    return order_gpt2(
        Tokens(numbers, size.vocabulary, Path("random numbers")),
        size=size,
        batch_size=rows,
        steps=STEPS,
        warmup=1,
        checkpoint_every=STEPS,
        division=counterfoil.Division.of(shares=shares, micro_batches=micro_batches),
    )


def _cost(events: Iterator[float]) -> Cost:
    """Follow the seconds of steps; returns what a step took this process."""
    wall, processor, before = [], [], time.process_time()
    for seconds in events:
        now = time.process_time()
        wall.append(seconds)
        processor.append(now - before)
        before = now
    return Cost(median(wall[1:]), median(processor[1:]))


def time_recording(order: Path, run: Path) -> Cost:
    """Record an order here, or as a rank; returns what a step took this process."""
    events = counterfoil.record(order, run, key_from_seed(KEY), threads=1, fresh=True)
    return _cost(event.seconds for event in events if isinstance(event, StepRecorded))


def time_audit(order: Path, run: Path) -> Cost:
    """Audit a run; returns what a step took."""

    def steps() -> Iterator[float]:
        for event in run_audit(AuditRequest(run, order, threads=1)):
            if isinstance(event, StepReplayed):
                yield event.row.seconds
            if isinstance(event, AuditFinished):
                assert event.report.outcome is Outcome.VERIFIED, event.report.reason

    return _cost(steps())


@contextmanager
def plainly() -> Iterator[None]:
    """Let shares be added as float32 by one all-reduce, unchecked, while the block runs: what others do."""

    def combine(
        order: LoadedOrder,
        step: int,
        before: object,
        sign: object,
        exchange: Exchange,
        given: list[dict[str, Tensor]],
        done: Sequence[ShareDone],
    ) -> Combination:
        combined = order.programs.of(step).combined
        together = float_sum(given, sorted(combined, key=lambda name: combined[name].number))
        return Combination(together, [0] * len(combined), exchange.shares(done), None)

    exact = execution.__dict__["combine"]
    execution.__dict__["combine"] = combine
    try:
        yield
    finally:
        execution.__dict__["combine"] = exact


def float_sum(shares: Sequence[dict[str, Tensor]], names: Sequence[str]) -> dict[str, Tensor]:
    """Return the sums of the shares of all ranks, added as float32 in buckets of the tensors in this order."""
    found: dict[str, Tensor] = {}
    for bucket in buckets([4 * shares[0][name].numel() for name in names]):
        part = [names[number] for number in bucket]
        totals = [sum((given.pop(name) for given in shares[1:]), shares[0].pop(name)) for name in part]
        flat = torch.cat([total.reshape(-1) for total in totals])
        if dist.is_initialized():
            dist.all_reduce(flat)
        pieces = torch.split(flat, [total.numel() for total in totals])
        found |= {name: piece.reshape(total.shape) for name, piece, total in zip(part, pieces, totals, strict=True)}
    return found


def by_ranks(order: Path, folder: Path, ranks: int, *, plain: bool = False) -> Cost:
    """Let processes with one thread each record an order together; returns what a step took rank 0."""
    run = folder / f"run-{ranks}-{plain}.cfoil"
    words = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--local-addr", "127.0.0.1"]
    words += ["--nproc-per-node", str(ranks), "-m", "benchmarks.scale", str(order), str(run), "plain" if plain else ""]
    lines = run_command(words, environment(OMP_NUM_THREADS="1")).said.splitlines()
    return Cost(**next(json.loads(line) for line in lines if line.startswith('{"wall"')))


def parameters_of(order: OrderDraft) -> int:
    """Return how many numbers a step adds up over the shares."""
    program = order.programs.only
    kinds = [program.types[value.number] for value in program.combined.values()]
    return sum(kind.elements for kind in kinds if kind is not None)


@dataclass(frozen=True)
class Network:
    """Devices of a model of the exchange."""

    name: str  #: What joins them.
    bandwidth: float  #: Bytes a second that a device sends.

    def seconds(self, parameters: float, devices: int) -> float:
        """Return what a ring all-reduce of int64 takes: each device sends 2 (n - 1) / n of the bytes."""
        return 2 * (devices - 1) / devices * BYTES_A_PARAMETER * parameters / self.bandwidth


NETWORKS = (Network("400 Gbit/s a device", 50e9), Network("10 Gbit/s a device", 1.25e9))
MODELS = (("124 M", 124e6), ("8 B", 8e9))


def many_devices() -> str:
    """Return the modelled seconds of the exchange of a step as a table."""
    rows = [
        [name, network.name, *(f"{network.seconds(parameters, devices):.3g} s" for devices in (8, 64, 512))]
        for name, parameters in MODELS
        for network in NETWORKS
    ]
    return markdown(["parameters", "network", "8 devices", "64", "512"], rows)


# What is measured, and shown of it.


def _recorded_by(options: Namespace, ranks: int) -> Values:
    """Record by so many processes, exactly and plainly."""
    size, rows = (SMALL, SMALL_ROWS) if options.small else (SIZE, ROWS)
    order, made = options.out / "job.cfoil", draft(size, rows, max(options.worlds))
    if not order.exists():
        made.write(order, trial=False)
    exact, plain = (by_ranks(order, options.out, ranks, plain=plain) for plain in (False, True))
    return {"exact": asdict(exact), "plain": asdict(plain), "parameters": parameters_of(made)}


def _divided(folder: Path, count: int) -> Values:
    """Record and audit steps of so many shares, and of one with as many micro-batches: processor seconds."""
    found = {}
    for name, shares, micro_batches in (("shares", count, 1), ("whole", 1, count)):
        order, run = folder / f"{shares}-{micro_batches}.cfoil", folder / f"{shares}-{micro_batches}.run.cfoil"
        draft(SMALL, SMALL_ROWS, shares, micro_batches).write(order, trial=False)
        found[name] = [time_recording(order, run).processor, time_audit(order, run).processor]
    return found


def _measure(options: Namespace, key: str) -> Values:
    what, count = key.split("/")
    return _recorded_by(options, int(count)) if what == "ranks" else _divided(options.out, int(count))


def sections(results: Results, options: Namespace) -> Sections:
    """Return the measured part of the page."""
    worlds, shares, rows = figures(results, "ranks/"), figures(results, "shares/"), []
    alone = next(iter(worlds.values()))["exact"]["wall"]
    parameters = next(iter(worlds.values()))["parameters"]
    for count, one in worlds.items():
        ranks, exact, plain = int(count), one["exact"], one["plain"]
        sent = 2 * (ranks - 1) / ranks * BYTES_A_PARAMETER * parameters / 2**20
        rows.append(
            [
                f"{ranks}{' (oversubscribed)' * (ranks > (os.cpu_count() or ranks))}", f"{exact['wall']:.2f} s",
                f"{alone / exact['wall']:.2f}", f"{plain['wall']:.2f} s", f"{exact['wall'] / plain['wall']:.2f}",
                f"{exact['processor'] / plain['processor']:.2f}", f"{sent:.0f} MiB",
            ]
        )  # fmt: skip
    heads = (
        "processes", "a step", "speed-up", "float32 all-reduce", "exact / that", "of processor time", "sent by each",
    )  # fmt: skip
    lines = [
        [
            count,
            *(
                cell
                for one, other in zip(of["shares"], of["whole"], strict=True)
                for cell in (f"{one:.2f} s", f"{one / other:.2f}")
            ),
        ]
        for count, of in shares.items()
    ]
    size, rank_rows = (SMALL, SMALL_ROWS) if options.small else (SIZE, ROWS)
    what = (
        f"{size.layers} layers, width {size.width}, vocabulary {size.vocabulary:,}, {rank_rows} rows of {size.context}"
    )
    divided = ("shares", "recorded", "to so many micro-batches", "replayed", "to so many micro-batches")
    return on_page(
        "many-devices.md", "measured",
        f"A GPT of {what} tokens ({parameters / 1e6:.1f} M parameters), in {max(options.worlds)} shares,\n"
        f"float64 to 24 bits, AdamW; medians over steps. {origins(results)}\n`python -m benchmarks scale --write`",
        markdown(heads, rows),
        f"Steps of one process, processor time, a GPT of {SMALL.layers} layers, width {SMALL.width}, {SMALL_ROWS} rows "
        f"of {SMALL.context}, to a step without shares that has as many micro-batches:", markdown(divided, lines),
        f"What the exchange takes among many devices, by a model: a ring that sends {BYTES_A_PARAMETER} bytes a "
        "parameter, bandwidth alone, nothing hidden behind the backward pass. OPEN-1B's plan for 8 B parameters names "
        "about 13 s of reduction a step in a fixed order of ranks.", many_devices(),
    )  # fmt: skip


def be_a_rank(order: str, run: str, plain: str) -> None:
    """Record as one of several processes, and let rank 0 print what a step took it."""
    with plainly() if plain else nullcontext():
        cost = time_recording(Path(order), Path(run))
    if os.environ.get("RANK", "0") == "0":
        print(json.dumps(asdict(cost)), flush=True)


SCALE = Benchmark(
    "Steps of many shares, recorded by one process and by several, and a model of the exchange.",
    lambda options: [
        *(Cell(f"ranks/{count}", alone=True, variables={"OMP_NUM_THREADS": "1"}) for count in options.worlds),
        *(Cell(f"shares/{count}", alone=True) for count in options.shares),
    ],
    _measure,
    sections,
    (
        argument("--worlds", type=int, nargs="+", default=[1, 2, 4], help="numbers of processes"),
        argument("--shares", type=int, nargs="+", default=list(MANY), help="numbers of shares of one process"),
        argument("--small", action="store_true", help="small sizes, to see that it works"),
    ),
)
if __name__ == "__main__":
    be_a_rank(*sys.argv[1:])
