"""Where two runs first differ: order, step, operator, element. Nobody is judged, and nothing is believed.

For whoever wonders why two machines, or two versions of a library, do not give the same training. The step is found by
binary search over Merkle trees of what the steps gave, without the rounding logs, which two honest machines need not
have in common. The operator is found by fingerprints, which are comparable under one order alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import torch

from counterfoil.audit.signedrun import SignedRun, observe_part
from counterfoil.audit.values.difference import (
    ComparedRun,
    Difference,
    DifferenceProgress,
    OperatorElements,
    StateDifference,
    Unlike,
)
from counterfoil.training.orderfile import load_order
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.generators import finish, relay
from counterfoil_core.base.sentence import joined, say
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import OrderManifest, run_tree
from counterfoil_core.bundle.stepshares import StepShares
from counterfoil_core.commit.merkle import MerkleTree, first_difference
from counterfoil_core.judge.compare import compare_states, detail_difference
from counterfoil_core.judge.locate import differing_inputs, first_differing_operator
from counterfoil_core.order.executable import with_data_file
from counterfoil_core.program.graph import Program
from counterfoil_core.replay.replayer import StepReplayer, differing_parts
from counterfoil_core.replay.sharedreplay import read_logs, step_replayer
from counterfoil_core.replay.shares import SharedJob, State, share_name
from counterfoil_core.values.dispute import COMBINE, UPDATE, listed_parts

Progress = Callable[[str, int, int], None]
"""Called with what is done, how much of it, and of how much."""


def compare_runs(
    first: str | os.PathLike[str],
    second: str | os.PathLike[str],
    *,
    replay: bool = False,
    data: str | os.PathLike[str] | None = None,
    device: str = "cpu",
    threads: int | None = None,
    cancel: CancelToken | None = None,
    progress: Progress = lambda _what, _done, _total: None,
) -> Difference:
    """Find where two runs first differ: :func:`run_difference`, told of its progress by calls."""

    def tell(report: DifferenceProgress) -> None:
        progress(report.what, report.done, report.total)

    compared = run_difference(first, second, replay=replay, data=data, device=device, threads=threads, cancel=cancel)
    return finish(relay(compared, tell))


def run_difference(
    first: str | os.PathLike[str],
    second: str | os.PathLike[str],
    *,
    replay: bool = False,
    data: str | os.PathLike[str] | None = None,
    device: str = "cpu",
    threads: int | None = None,
    cancel: CancelToken | None = None,
) -> Generator[DifferenceProgress, None, Difference]:
    """Find where two runs first differ; yields how far it is, and returns what was found.

    Args:
        first: A run.
        second: Another.
        replay: Replay the differing step here, with each run's own log, to compare the operator's elements.
        data: The data file, for an order that keeps data outside; only a replay needs it.
        device: Where to replay.
        threads: Threads on the CPU.
        cancel: Looked at now and then.

    Raises:
        GivenFileError: A file is not there, or is an order that nobody has run.
        RefusedError: A run is damaged, or not what its trainer signed.
        CancelledError: The token was cancelled.
    """

    def told(report: tuple[str, int, int]) -> DifferenceProgress:
        return DifferenceProgress(*report)

    with obstacles_noticed(), ExitStack() as stack:
        one = yield from relay(SignedRun.opened(stack.enter_context(BundleReader.open(first)), cancel), told)
        other = yield from relay(SignedRun.opened(stack.enter_context(BundleReader.open(second)), cancel), told)
        orders = unlike_orders(one.manifest, other.manifest)
        same_order = not orders
        if one.manifest.programs != other.manifest.programs:
            orders += _unlike_programs(one, other)
        trees = [_results(run, other_run, same_order) for run, other_run in ((one, other), (other, one))]
        step, path = first_difference(*trees)
        difference = Difference(
            sentence="",
            runs=(one.facts, other.facts),
            orders=orders,
            machines=_unlike_machines(one.facts, other.facts),
            compared=trees[0].size - 1,
            step=step,
            path=path,
            parts=(),
            losses=None,
            log_step=_first_log(one.logs, other.logs) if same_order else None,
            inputs=(),
            operator=None,
            elements=None,
            state=None,
        )
        if step is not None:
            difference = _located(difference, one, other, step, same_order)
            if replay and difference.operator is not None:
                job = with_data_file(load_order(one.reader), data, stack, cancel)
                machine = open_machine(device, threads)
                with step_replayer(job, machine, cancel=cancel) as replayer:
                    elements = yield from _elements(replayer, one, other, step, difference.part)
                difference = replace(difference, elements=elements)
        return replace(difference, sentence=_sentence(difference))


def _results(run: SignedRun, other: SignedRun, same_order: bool) -> MerkleTree:
    """The tree over what the steps gave that both runs have: under two orders fingerprints say nothing."""
    kept = []
    for record, beside in zip(run.results, other.results, strict=False):
        if not same_order:
            record = replace(record, fingerprints=None, shares=None)
        kept.append(record if beside.state_root is not None else replace(record, state_root=None))
    return run_tree(kept)


def _located(difference: Difference, one: SignedRun, other: SignedRun, step: int, same_order: bool) -> Difference:
    records = one.results[step], other.results[step]
    parts = differing_parts(*records)
    if not same_order:
        parts = tuple(part for part in parts if part not in ("fingerprints", "shares"))
    losses = None
    inputs: tuple[str, ...] = ()
    operator, part = None, ""
    if step:
        losses = float(records[0].loss or 0.0), float(records[1].loss or 0.0)
        part = differing_part(*(run.reader.shares(step) for run in (one, other))) if same_order else ""
    if step and same_order and part != COMBINE:
        program = one.program(step)
        if part == UPDATE:
            program = Program.from_bytes(one.reader.update(one.manifest.programs.name(step)))
        fingerprints = one.printed(step, part), other.printed(step, part)
        inputs = differing_inputs(program, *fingerprints)
        operator = None if inputs else first_differing_operator(program, *fingerprints)
    return replace(
        difference,
        parts=parts,
        losses=losses,
        inputs=inputs,
        operator=operator,
        state=_stored_difference(one, other, step),
        part=part,
    )


def differing_part(one: StepShares | None, other: StepShares | None) -> str:
    """Return the first part of a step whose results differ in two runs; empty where no shares make it. Pure.

    Args:
        one: What a run holds of the shares of the step.
        other: What the other does.
    """
    if one is None or other is None:
        return ""
    for mine, theirs in zip(one.records, other.records, strict=True):
        if mine.result != theirs.result:
            return share_name(mine.share)
    return UPDATE if one.results == other.results else COMBINE


def _stored_difference(one: SignedRun, other: SignedRun, step: int) -> StateDifference | None:
    stored = [0] if step == 0 else []
    extents = one.reader.extent, other.reader.extent
    stored += [at for at in extents[0].checkpoint_steps if step <= at and extents[1].is_checkpoint(at)]
    if not stored:
        return None
    states = one.state(stored[0]), other.state(stored[0])
    layouts = [{name: (array.dtype, array.shape) for name, array in state.items()} for state in states]
    same = [name for name in layouts[0] if layouts[0][name] == layouts[1].get(name)]
    found = compare_states(*({name: state[name] for name in same} for state in states))
    differing = tuple(tensor for tensor in found if tensor.differing)
    detail = None
    if differing:
        worst = differing[0].name
        detail = detail_difference(worst, states[0][worst], states[1][worst])
    unlike = sorted((layouts[0].keys() | layouts[1].keys()) - set(same))
    return StateDifference(stored[0], differing, len(same) - len(differing), tuple(unlike), detail)


def _elements(
    replayer: StepReplayer, one: SignedRun, other: SignedRun, step: int, part: str
) -> Generator[DifferenceProgress, None, OperatorElements | None]:
    """Replay up to the step with each run's own log from the state that both store, and compare the operator's output.

    Of a step that shares make, the part that differs is replayed: of an update, from what its own shares give.

    In between each has a state of its own: equal fingerprints are not equal states.
    """
    begin = one.reader.extent.checkpoint_before(step)
    state: State = {name: torch.from_numpy(array) for name, array in one.state(begin).items()}

    def run(side: SignedRun, at: int, before: State) -> State:
        logs = read_logs(replayer.job, side.records[at], side.reader)
        return finish(replayer.replay(side.records[at], before, logs)).result.state

    sides, states = (one, other), [state, state]
    total, done = 2 * (step - begin), 0
    for at in range(begin + 1, step):
        for number, side in enumerate(sides):
            yield DifferenceProgress(say("Replaying"), done, total)
            states[number] = run(side, at, states[number])
            done += 1
    recorded = [side.printed(step, part) for side in (one, other)]
    place = int(np.flatnonzero(recorded[0] != recorded[1])[0])
    values, reproduced = [], []
    for number, side in enumerate(sides):
        yield DifferenceProgress(say("Replaying"), done + number, total)
        replayed = finish(observe_part(replayer, side, step, part, states[number], place))
        seen = replayed.observation.after if replayed.observation is not None else None
        if seen is None and replayed.watched is not None:
            seen = replayed.watched.value
        if seen is None:
            return None
        values.append(seen.cpu().numpy().astype(np.float64))
        reproduced.append(bool(replayed.fingerprints[place] == recorded[number][place]))
    yield DifferenceProgress(say("Replaying"), total, total)
    job = replayer.job
    turns = job.updates if part == UPDATE and isinstance(job, SharedJob) else job.programs
    assert turns is not None
    program = turns.of(step)
    where = program.places[place]
    shape = () if where.node is None else getattr(program.nodes[where.node].outputs[where.output], "shape", ())
    return _compared(values[0], values[1], shape, (reproduced[0], reproduced[1]))


def _compared(one: Array, other: Array, shape: Sequence[int], reproduced: tuple[bool, bool]) -> OperatorElements:
    differs = one.view(np.int64) != other.view(np.int64)
    count = int(np.count_nonzero(differs))
    if not count:
        return OperatorElements(reproduced, one.size, 0, (), 0.0, 0.0, 0.0)
    first = int(np.flatnonzero(differs)[0])
    with np.errstate(invalid="ignore"):
        distance = np.abs(one - other)
    index = tuple(int(place) for place in np.unravel_index(first, tuple(shape)))
    largest = float(np.nan_to_num(distance[differs], nan=np.inf).max())
    return OperatorElements(reproduced, one.size, count, index, float(one[first]), float(other[first]), largest)


def unlike_orders(one: OrderManifest, other: OrderManifest) -> tuple[Unlike, ...]:
    """Return in what two orders differ; nothing when they are the same. Pure."""
    if one.digest == other.digest:
        return ()
    pairs: dict[str, tuple[object, object]] = {
        name: (getattr(one, name), getattr(other, name))
        for name in ("title", "recipe", "optimizer", "seed", "steps", "batch_size", "commit_every", "checkpoint_every")
    }
    pairs["precision"] = one.precision.describe(), other.precision.describe()
    rules = tuple(None if side.may_stop_early is None else side.may_stop_early.describe() for side in (one, other))
    pairs["stopping"] = tuple(rule or "all steps" for rule in rules)  # type: ignore[assignment]
    pairs["schedule"] = one.schedule.digest, other.schedule.digest
    pairs["per-step scalars"] = one.scalars.digest, other.scalars.digest
    pairs["initial state"] = one.initial_root, other.initial_root
    pairs["programs"] = _digests(one), _digests(other)
    for name in sorted(one.data.keys() | other.data.keys()):
        pairs[f"data {name}"] = tuple(
            "none" if (spec := side.data.get(name)) is None else spec.digest for side in (one, other)
        )  # type: ignore[assignment]
    found = tuple(
        Unlike(what, _short(mine), _short(theirs)) for what, (mine, theirs) in pairs.items() if mine != theirs
    )
    return found or (Unlike("order digest", one.digest.short, other.digest.short),)


def _digests(manifest: OrderManifest) -> str:
    return ", ".join(f"{name or 'program'} {digest.short}" for name, digest in manifest.programs.parts.items())


def _short(value: object) -> str:
    return value.short if isinstance(value, Digest) else str(value)


def _unlike_programs(one: SignedRun, other: SignedRun) -> tuple[Unlike, ...]:
    """The first operator of the first step's program that is not the same in both orders."""
    programs = one.program(1), other.program(1)
    for number, nodes in enumerate(zip(programs[0].nodes, programs[1].nodes, strict=False), 1):
        if nodes[0] != nodes[1]:
            return (Unlike(f"operator {number} of the program", nodes[0].where, nodes[1].where),)
    counts = [str(len(program.nodes)) for program in programs]
    return (Unlike("operators of the program", *counts),) if counts[0] != counts[1] else ()


def _unlike_machines(one: ComparedRun, other: ComparedRun) -> tuple[Unlike, ...]:
    mine: Mapping[str, str] = dict(one.environment)
    theirs: Mapping[str, str] = dict(other.environment)
    return tuple(
        Unlike(name, mine.get(name, ""), theirs.get(name, ""))
        for name in sorted(mine.keys() | theirs.keys())
        if mine.get(name) != theirs.get(name)
    )


def _first_log(one: Sequence[object], other: Sequence[object]) -> int | None:
    return next((step for step, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)


def _sentence(found: Difference) -> str:
    sentences: list[str] = []
    if found.orders:
        named = ", ".join(unlike.what for unlike in found.orders[:6])
        sentences.append(say("The runs are of different orders; what differs: {0}.", named))
    if found.step is None:
        sentences.append(say("All {0} steps that were compared are equal.", found.compared))
    elif found.step == 0:
        sentences.append(say("They differ from the beginning: the initial states are not the same."))
    else:
        sentences.append(
            say(
                "The first step that differs is {0} of {1}: {2}.", found.step, found.compared, listed_parts(found.parts)
            )
        )
        if found.part:
            sentences.append(say("The first part of it that differs is {0}.", found.part))
        if found.inputs:
            rows = ", ".join(found.inputs)
            sentences.append(say("The fingerprints that the runs recorded of what it reads differ: {0}.", rows))
        elif found.operator is not None:
            operator = found.operator
            sentences.append(
                say(
                    "The first operator whose fingerprint differs is {0} of {1}, {2}.",
                    operator.number,
                    operator.total,
                    operator.where,
                )
            )
        if found.parts == ("fingerprints",):
            sentences.append(say("The loss, and the state where one is signed, are the same in both."))
    return joined(*sentences)
