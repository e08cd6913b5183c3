"""Steps that shares make, in numpy, written from docs/numerics.md, "Shares", and docs/bundle-format.md, section 18."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from independent.bundle import (
    Bundle,
    Share,
    SiteLog,
    leaf,
    need,
    sha256,
    shares_field,
    state_root,
    step_record,
    tensor_digest,
)
from independent.exact import once, replayer_of
from independent.replay import Part, Step

Array = Any
State = dict[str, Array]
NO_EXPONENT = -(2**31)


def exponent_of(shares: Sequence[Array]) -> int:
    """E of what several shares give under one name."""
    largest = max(float(np.abs(share).max(initial=0)) for share in shares)
    return int(np.frexp(largest)[1]) if largest else NO_EXPONENT


def in_integers(share: Array, exponent: int, bits: int) -> Array:
    """q of what a share gives; zeros without an exponent."""
    scale = 0 if exponent == NO_EXPONENT else bits - exponent
    return np.rint(np.ldexp(share.astype(np.float64), scale)).astype(np.int64)


def added(shares: Sequence[Array], bits: int) -> tuple[Array, int]:
    """The sum of what shares give under one name, float32, and E."""
    exponent = exponent_of(shares)
    if exponent == NO_EXPONENT:
        return np.zeros(shares[0].shape, np.float32), exponent
    total = np.asarray(sum(in_integers(share, exponent, bits) for share in shares))
    result = once(total, np.int64(exponent - bits))
    need(np.isfinite(result).all(), "a sum of shares beyond float32's range")
    return result, exponent


PRIME, ROW = 2**127 - 1, 4096


def seen_of(own: Sequence[Sequence[int]], sums: Sequence[Array]) -> bytes:
    """What is seen of a sum: the exponents of each share, and the integers of each tensor, by the names, sorted."""
    exponents = sha256(np.array(own, "<i4").tobytes())
    return sha256(exponents + b"".join(sha256(np.asarray(total, "<i8").tobytes()) for total in sums))


def drawn(seed: bytes, count: int) -> list[int]:
    data = hashlib.shake_256(seed).digest(16 * count)
    return [int.from_bytes(data[16 * at : 16 * at + 16], "little") % 2**127 % PRIME for at in range(count)]


def hash_of(seed: bytes, place: int, share: int, count: int, own: int, integers: Array) -> bytes:
    """The hash of what a share adds of the tensor at a place; ``own`` is its own exponent."""
    flat = [int(q) for q in np.asarray(integers).reshape(-1)]
    weights, columns = drawn(seed + place.to_bytes(4, "little"), count + -(-len(flat) // ROW)), drawn(seed, ROW)
    total = sum(q * weights[count + i // ROW] * columns[i % ROW] for i, q in enumerate(flat))
    return ((total + weights[share] * own) % PRIME).to_bytes(16, "little")


@dataclass
class SharedStep:
    """What a step gave.

    Attributes:
        state: The new state.
        update: What the update gave.
        shares: What each share gave.
        exponents: E of each value, by the names, sorted; None where nothing is added.
        combined: The combination.
        logs: The logs that were followed, those of the shares and that of the update; or those of the own roundings.
    """

    state: State
    update: Step
    shares: list[Step]
    exponents: Array | None
    combined: dict[str, Array]
    logs: list[list[SiteLog]] = field(default_factory=list)

    def share_data(self, changed: Sequence[str], logs: Sequence[bytes]) -> list[Share]:
        """What the records of the shares are made of; ``changed`` has the names of the buffers."""
        return [
            Share(
                state_root(share.combined),
                state_root({name: share.state[name] for name in changed}),
                log,
                share.row,
                share.loss,
                float(share.combined.get("count", 1.0)),
            )
            for share, log in zip(self.shares, logs, strict=True)
        ]

    @property
    def digests(self) -> list[bytes]:
        """The tensor digests of the sums; none where nothing is added."""
        names = [] if self.exponents is None else sorted(self.combined)
        return [tensor_digest(name, self.combined[name]) for name in names]


class SharedSteps:
    """Computes steps that shares make.

    Args:
        bundle: An order with shares, or a run of one.
        name: Which of several programs has its turn.
    """

    def __init__(self, bundle: Bundle, name: str = "") -> None:
        self.bundle = bundle
        self.gradient, self.update = replayer_of(bundle, name), replayer_of(bundle, name, update=True)
        self.count = bundle.shares["count"]
        self.sums = bundle.shares["combine"]["rule"] == "sum"
        self.changed = sorted(self.gradient.program["updates"])

    def combined(self, given: Sequence[Mapping[str, Array]]) -> tuple[dict[str, Array], Array | None]:
        """The combination of what the shares give, and the exponents by the names, sorted."""
        names = sorted(given[0])
        if not self.sums:
            return {name: np.stack([share[name] for share in given]) for name in names}, None
        found = [added([share[name] for share in given], self.bundle.shares["combine"]["bits"]) for name in names]
        sums = {name: total for name, (total, _) in zip(names, found, strict=True)}
        return sums, np.array([exponent for _, exponent in found], np.int32)

    def additions(self, step: int, done: SharedStep, shares: Mapping[str, str]) -> tuple[bytes, list[bytes]]:
        """What is seen of the sum of a step, and the hashes of what each share adds; ``shares``: the record's field."""
        names, bits = sorted(done.combined), self.bundle.shares["combine"]["bits"]
        given = [[share.combined[name] for name in names] for share in done.shares]
        own = [[exponent_of([tensor]) for tensor in tensors] for tensors in given]
        added = [
            [in_integers(tensor, int(e), bits) for tensor, e in zip(tensors, done.exponents, strict=True)]
            for tensors in given
        ]
        seen = seen_of(own, [sum(parts) for parts in zip(*added, strict=True)])
        seed = sha256(
            b"counterfoil: weights of what is added\n"
            + self.bundle.digest
            + step.to_bytes(8, "little")
            + bytes.fromhex(shares["root"] + shares["exponents"])
            + seen
        )
        return seen, [
            b"".join(hash_of(seed, place, number, self.count, own[number][place], q) for place, q in enumerate(parts))
            for number, parts in enumerate(added)
        ]

    def share_part(self, number: int) -> Part:
        """What a share has of a step."""
        rows = self.bundle.manifest["batch_size"] // self.count
        return Part((number * rows, (number + 1) * rows), number * self.gradient.draws)

    def update_part(self, combined: Mapping[str, Array]) -> Part:
        """What the update has of a step."""
        return Part(first=self.count * self.gradient.draws, combined=combined)

    def share(self, step: int, number: int, state: State, log: list[SiteLog] | None) -> Step:
        """A share by itself: nothing of another share is needed."""
        return self.gradient.step(step, state, log, self.share_part(number))

    def step(self, step: int, state: State, logs: Sequence[list[SiteLog]] | None) -> SharedStep:
        """A step; without logs every value is rounded by itself."""
        of = list(logs) if logs is not None else [None] * (self.count + 1)
        shares = [self.share(step, number, state, of[number]) for number in range(self.count)]
        combined, exponents = self.combined([share.combined for share in shares])
        update = self.update.step(step, state, of[-1], self.update_part(combined))
        new = update.state | {name: shares[0].state[name] for name in self.changed}
        return SharedStep(new, update, shares, exponents, combined, [part.log for part in (*shares, update)])

    def replay(self, step: int, state: State) -> tuple[SharedStep, bytes]:
        """Replay a step with the trainer's logs; returns its Merkle leaf too."""
        encoded = self.bundle.logs(step)
        programs = [self.gradient] * self.count + [self.update]
        result = self.step(step, state, [part.decoded(log) for part, log in zip(programs, encoded, strict=True)])
        return result, leaf(self.record(step, result, encoded))

    def record(self, step: int, result: SharedStep, logs: Sequence[bytes]) -> bytes:
        """The record of a step."""
        shares = shares_field(result.share_data(self.changed, logs[:-1]), result.exponents, result.digests)
        row = result.update.row.astype("<u8").tobytes()
        return step_record(step, state_root(result.state), logs[-1], row, result.update.loss, shares)
