"""What recording, storing and auditing a run of billions of parameters takes: devices, hours, bytes, a sample. Pure.

A model, from a GPU's data sheet (:mod:`counterfoil.audit.values.rates`) or from one measured step. What it rests on is
said by :func:`assumptions`, and docs/scale.md checks it against what others published of runs of theirs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, log2

from counterfoil.audit.values.plan import Plan
from counterfoil.audit.values.rates import LOG_BITS, RECOMPUTED, WAYS, Way, token_seconds
from counterfoil.audit.values.transformer import (
    ASPECT,
    GRADIENT_BYTES,
    PLACES,
    STATE_BYTES,
    TENSORS,
    UPDATE_VALUES,
    Transformer,
)
from counterfoil.base.cards import EFFICIENCY, Gpu, float64_advice
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.extent import Extent
from counterfoil_core.bundle.places import Places
from counterfoil_core.values.sampling import bad_segments, passing_probability, sample_size, segment_count

DIGEST_BYTES = 32
TOKEN_BYTES = 4
"""Of a token of the data: int32."""
EXCHANGE_BYTES = {True: 8, False: 4}
"""Of a gradient on its way between devices: int64 where it is added exactly, else float32."""
REPLAYED = 1.05
"""Time of a replayed step by that of a recorded one, as measured on processors (docs/benchmarks.md)."""
HASH_RATE = 8 * 1.716e9
"""Bytes that SHA-256 takes in a second on eight threads of an AMD EPYC, as measured on one (docs/recording.md)."""


@dataclass(frozen=True)
class MeasuredStep:
    """A device by one step that was measured on it."""

    device: str  #: Its name.
    profile: str  #: The precision profile of the step; empty where it has no name.
    rate: float  #: Operations a second: those of the step, by the time that it took.
    log_bits: float  #: Size of the step's log for each value that was rounded; 0 without a log.


@dataclass(frozen=True)
class FleetRequest:
    """What is to be trained, and on what.

    Raises:
        DataError: A number is not positive, or a share not between 0 and 1.
    """

    parameters: tuple[float, ...] = (1e9, 3e9, 8e9, 30e9, 70e9)  #: Sizes of models, for each of which there are rows.
    tokens: float = 1e12  #: Tokens of the run.
    batch_tokens: int = 4 * 2**20  #: Tokens of a step.
    context: int = 4096  #: Tokens of a sequence.
    devices: int = 64  #: Devices that record, each one share of every step.
    checkpoint_every: int = 100  #: Steps of a segment, from one stored state to the next.
    confidence: float = 0.99  #: Least probability that a run with so many bad segments is caught by a sample.
    bad_fraction: float = 0.01  #: Share of bad segments that must not pass.
    link: float = 50e9  #: Bytes a second that a device exchanges with others.
    read: float = 1.25e9  #: Bytes a second at which an auditor gets a stored state.

    def __post_init__(self) -> None:
        counts = self.tokens, self.batch_tokens, self.context, self.devices, self.checkpoint_every, self.link, self.read
        # Not a number is not more than 0 either.
        if not self.parameters or not all(0 < number < 1e18 for number in (*self.parameters, *counts)):
            raise DataError(
                say("Sizes and counts of a plan are more than 0."), remedy=say("Give sizes such as 1,8,70.")
            )
        if self.tokens < self.batch_tokens:
            raise DataError(
                say("The run has fewer tokens than one of its steps, {0:,}.", self.batch_tokens),
                remedy=say("Give more tokens, such as 1e12."),
            )
        if not 0 < self.confidence < 1 or not 0 < self.bad_fraction <= 1:
            raise DataError(
                say("Confidence and bad fraction are shares between 0 and 1."),
                remedy=say("Choose, say, 0.99 and 0.01."),
            )

    @property
    def extent(self) -> Extent:
        """The steps of the run."""
        return Extent(round(self.tokens / self.batch_tokens), 1, self.checkpoint_every)


@dataclass(frozen=True)
class FleetRow:
    """One size of a model under one profile."""

    parameters: float  #: Size of the model.
    profile: str  #: The precision profile; ``bfloat16`` is ordinary training, which nobody can audit.
    audited: bool  #: Whether it can be audited. What follows of storing and auditing is 0 where it cannot.
    rate: float  #: Useful operations a second of a device.
    step_seconds: float  #: A step on all devices.
    hashing: bool  #: Whether a step waits for its digests, and not for what is computed.
    record_hours: float  #: The run, on all devices.
    record_device_hours: float  #: The same times their number.
    #: Whether a device holds weights, moments and gradients, as each must; None where its memory is not known.
    fits: bool | None
    checkpoint_bytes: float = 0.0  #: Stored states.
    log_bytes: float = 0.0  #: Rounding logs.
    record_bytes: float = 0.0  #: What is kept of every step and share: roots, losses, fingerprints.
    leaf_bytes: float = 0.0  #: The Merkle leaves of the steps.
    proof_bytes: float = 0.0  #: Proofs that the states at both ends of each segment of the sample are the run's.
    audit_device_hours: float = 0.0  #: A replay of the whole run, segment by segment, each on one device.
    sample_segments: int = 0  #: Segments of the sample.
    sample_steps: int = 0  #: Steps in them.
    sample_device_hours: float = 0.0  #: Their replay, with reading what each begins from.
    sample_bytes: float = 0.0  #: What an auditor has to get for it: states, logs and proofs, the data left out.


@dataclass(frozen=True)
class Fleet:
    """A plan of runs past the machines at hand."""

    device: str  #: The device, by its data sheet or as measured.
    request: FleetRequest  #: What was asked.
    steps: int  #: Steps of the run.
    segments: int  #: Segments of it.
    bad: int  #: The share of bad segments that must not pass as a number of them.
    passing: float  #: Probability that a run with so many bad segments passes the sample.
    data_bytes: float  #: Size of the tokens.
    rows: tuple[FleetRow, ...]  #: For each size, one for each profile.
    assumptions: tuple[str, ...]  #: What all of it rests on, in sentences.
    notes: tuple[str, ...]  #: What stands in the way, in sentences.


def measured_by(plan: Plan) -> MeasuredStep:
    """Return the device of a plan, by the steps of its run that it measured."""
    return MeasuredStep(plan.device, plan.profile, plan.estimate.flops / plan.step_seconds, plan.log_bits)


def plan_fleet(source: Gpu | MeasuredStep, request: FleetRequest | None = None) -> Fleet:
    """Return what runs take: by a GPU's data sheet under every profile, or by a measured step under its own.

    Args:
        source: The device.
        request: What is to be trained; the defaults unless given.
    """
    asked = request or FleetRequest()
    extent = asked.extent
    total = segment_count(extent)
    bad = bad_segments(total, asked.bad_fraction)
    count = sample_size(total, bad, asked.confidence)
    models = [Transformer.of(parameters, asked.context) for parameters in asked.parameters]
    rows = tuple(_row(source, way, model, asked, count) for model in models for way in _ways(source))
    return Fleet(
        device=source.name if isinstance(source, Gpu) else source.device,
        request=asked,
        steps=extent.steps,
        segments=total,
        bad=bad,
        passing=passing_probability(total, bad, count),
        data_bytes=TOKEN_BYTES * asked.tokens,
        rows=rows,
        assumptions=assumptions(source, asked),
        notes=_notes(source, rows),
    )


def _ways(source: Gpu | MeasuredStep) -> tuple[Way, ...]:
    """The profiles of the rows; of a measured step its own, or one that is like it where it has no name."""
    if isinstance(source, Gpu):
        return tuple(WAYS.values())
    alike = "float64-24" if source.log_bits else "exact-20"
    way = WAYS.get(source.profile, WAYS[alike])
    return (Way(source.profile or alike, way.rate, way.products, way.read, way.made, way.item, way.counts,
                way.rounds, source.log_bits),)  # fmt: skip


def _seconds(source: Gpu | MeasuredStep, way: Way, model: Transformer) -> float:
    """How long a device computes for a token."""
    if isinstance(source, Gpu):
        return token_seconds(source, way, model)
    return model.flops / source.rate


def _row(source: Gpu | MeasuredStep, way: Way, model: Transformer, asked: FleetRequest, count: int) -> FleetRow:
    extent, memory = asked.extent, source.memory if isinstance(source, Gpu) else None
    gradients = GRADIENT_BYTES * model.parameters
    alone = asked.batch_tokens * _seconds(source, way, model)
    ring = 2 * EXCHANGE_BYTES[way.audited] * model.parameters * (asked.devices - 1) / asked.devices / asked.link
    computing = alone / asked.devices + ring
    digests = (model.state_bytes + gradients) / HASH_RATE if way.audited else 0.0
    step = max(computing, digests)
    hours = extent.steps * step / 3600
    recorded = FleetRow(
        parameters=model.parameters,
        profile=way.name,
        audited=way.audited,
        rate=model.flops * asked.batch_tokens / alone,
        step_seconds=step,
        hashing=digests > computing,
        record_hours=hours,
        record_device_hours=asked.devices * hours,
        fits=None if memory is None else model.state_bytes + gradients <= memory,
    )
    return _audited(recorded, way, model, asked, count, alone) if way.audited else recorded


def _audited(row: FleetRow, way: Way, model: Transformer, asked: FleetRequest, count: int, alone: float) -> FleetRow:
    """Return a row with what storing and auditing takes; ``alone`` is how long one device computes for a step."""
    extent = asked.extent
    # One device replays all shares of a step, and digests what each of them gives.
    hashed = model.state_bytes + asked.devices * GRADIENT_BYTES * model.parameters
    replayed = max(REPLAYED * alone, hashed / HASH_RATE)
    values = asked.batch_tokens * model.elements(way.counts.rounded) + UPDATE_VALUES * model.parameters
    log = way.log_bits * values / 8
    layers = ceil(model.layers)
    places = Places(TENSORS * layers, PLACES[not way.log_bits] * layers, TENSORS * layers)
    total = segment_count(extent)
    steps = round(count * extent.steps / total)
    proof = 2 * DIGEST_BYTES * ceil(log2(extent.steps + 1))
    load = model.state_bytes / asked.read + model.state_bytes / HASH_RATE
    return replace(
        row,
        checkpoint_bytes=total * model.state_bytes,
        log_bytes=extent.steps * log,
        record_bytes=float(extent.steps * places.bytes(asked.devices) + extent.committed_steps * DIGEST_BYTES),
        leaf_bytes=float(DIGEST_BYTES * (extent.steps + 1)),
        proof_bytes=float(count * proof),
        audit_device_hours=(extent.steps * replayed + total * load) / 3600,
        sample_segments=count,
        sample_steps=steps,
        sample_device_hours=(steps * replayed + count * load) / 3600,
        sample_bytes=count * (model.state_bytes + proof) + steps * (log + places.bytes(asked.devices)),
    )


def assumptions(source: Gpu | MeasuredStep, asked: FleetRequest) -> tuple[str, ...]:
    """Return what a plan rests on, a sentence for each assumption."""
    return (
        *(_by_data_sheet(source) if isinstance(source, Gpu) else _by_a_step(source)),
        say(
            "A token takes 6 N operations, and 12 d T a layer for attention, T = {0:,}; the width d is {1} times the "
            "layers, 12 d^2 parameters in each.",
            asked.context,
            ASPECT,
        ),
        say(
            "A step has {0:,} tokens in {1:,} shares, one for each device; their sums travel as 8 bytes a parameter "
            "over a ring of {2:.3g} GB/s, after the backward pass.",
            asked.batch_tokens,
            asked.devices,
            asked.link / 1e9,
        ),
        say(
            "A state is {0} bytes a parameter: weights and AdamW's moments in float32. It is digested after every "
            "step and stored after every {1:,}, and every device holds all of it.",
            STATE_BYTES,
            asked.checkpoint_every,
        ),
        say(
            "SHA-256 takes {0:.3g} GB/s, eight threads of a processor; digests are made beside the next step.",
            HASH_RATE / 1e9,
        ),
        say(
            "A replayed step takes {0} times a recorded one, on one device; an auditor gets states at {1:.3g} GB/s.",
            REPLAYED,
            asked.read / 1e9,
        ),
        say(
            "Segments are drawn after the run was signed. A run with fewer bad ones than {0:.3g} % may pass: a single "
            "one is found with the probability that it is in the sample.",
            100 * asked.bad_fraction,
        ),
    )


def _by_data_sheet(gpu: Gpu) -> tuple[str, ...]:
    return (
        say(
            "Rates are those that {0} publishes of the {1}, dense; {2:.0f} % of them is reached, of products and of "
            "memory alike. No GPU measured it.",
            gpu.maker,
            gpu.name,
            100 * EFFICIENCY,
        ),
        say(
            "Under a profile nothing is fused: every operator reads and writes its tensors, attention's matrices too. "
            "Ordinary bfloat16 moves nothing beside its products."
        ),
        say("Activations do not fit, so that forward passes run twice: {0:.3g} times the time.", RECOMPUTED),
        say(
            "Of each rounded value {0} bits are logged under float64-24, as was measured on processors, and a hundred "
            "times that under float32-bfloat16.",
            LOG_BITS,
        ),
    )


def _by_a_step(measured: MeasuredStep) -> tuple[str, ...]:
    return (
        say(
            "One step was measured on {0}, at {1:.3g} operations a second; larger ones are taken to run at that rate. "
            "Small ones run at less.",
            measured.device,
            measured.rate,
        ),
        say("Its log has {0:.2g} bits for each rounded value, and those of larger ones too.", measured.log_bits),
    )


def _notes(source: Gpu | MeasuredStep, rows: tuple[FleetRow, ...]) -> tuple[str, ...]:
    """What stands in the way of rows."""
    found: list[str] = []
    large = [row.parameters for row in rows if row.fits is False]
    if large and isinstance(source, Gpu):
        found.append(
            say(
                "From {0:.3g} billion parameters on, weights, moments and gradients are more than the {1:.0f} GB of "
                "one {2}. Every device that records or replays holds all of them: dividing a state is not built.",
                min(large) / 1e9,
                source.memory / 1e9,
                source.name,
            )
        )
    if isinstance(source, Gpu):
        found.extend(filter(None, [float64_advice(source.name, source.float64_share, "float64")]))
    if any(row.hashing for row in rows):
        found.append(
            say(
                "Where hashing is marked, a step waits for the digest of its state: fewer devices, or larger batches, "
                "take as long."
            )
        )
    return tuple(found)
