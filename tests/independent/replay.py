"""Replays a run in numpy, written from docs/numerics.md and docs/bundle-format.md alone: grid, log, fingerprints."""

from __future__ import annotations

import decimal
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from independent.bundle import ZERO, Bundle, SiteLog, decode_log, leaf, need, sha256, state_root, step_record
from independent.operators import BOUNDS, COMPUTE, ROWS, SCALES, Arguments

Array = Any
MASK = 2**64 - 1
DTYPES = {"int64": np.int64, "int32": np.int32, "uint8": np.uint8, "bool": np.bool_}
"""Beside ``float32``, which stands for the compute dtype."""


# Random numbers: numerics.md, "Randomness".


def philox(counter: tuple[int, ...], key: tuple[int, int]) -> tuple[int, ...]:
    a, b, c, d = counter
    k, m = key
    for _ in range(10):
        p, q = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (q >> 32) ^ b ^ k, q & 0xFFFFFFFF, (p >> 32) ^ d ^ m, p & 0xFFFFFFFF
        k, m = (k + 0x9E3779B9) & 0xFFFFFFFF, (m + 0xBB67AE85) & 0xFFFFFFFF
    return a, b, c, d


def words(count: int, draw: int, seed: int, step: int) -> list[int]:
    """The words of the blocks that make ``count`` elements."""
    key = (seed & 0xFFFFFFFF, seed >> 32)
    return [w for b in range(-(-count // 4)) for w in philox((b & 0xFFFFFFFF, b >> 32, step, draw), key)]


def uniform(shape: list[int], draw: int, seed: int, step: int) -> Array:
    count = math.prod(shape)
    return np.array([(w >> 8) * 2.0**-24 for w in words(count, draw, seed, step)[:count]]).reshape(shape)


def nearest(digits: decimal.Decimal) -> float:
    """The float32 number nearest to one of 60 digits, which is no midpoint of two, and not subnormal."""
    value = Fraction(digits)
    e = abs(value.numerator).bit_length() - value.denominator.bit_length()
    e -= abs(value) < Fraction(2) ** e
    unit = Fraction(2) ** (e - 23)
    return float(round(value / unit) * unit)


def sine(turns: Fraction) -> decimal.Decimal:
    """Of a number of turns: what is left of a quarter of one, on either side, goes into the series."""
    turns %= 1
    half, sign = turns % Fraction(1, 2), -1 if turns >= Fraction(1, 2) else 1
    part = min(half, Fraction(1, 2) - half)
    x = term = total = TWO_PI * part.numerator / part.denominator
    for k in range(1, 40):
        term = -term * x * x / (2 * k * (2 * k + 1))
        total += term
    return sign * total


def between_0_and_1(word: int) -> decimal.Decimal:
    return decimal.Decimal(2 * word + 1) / 2**33


def normal(shape: list[int], draw: int, seed: int, step: int) -> Array:
    count, found = math.prod(shape), []
    with decimal.localcontext(prec=60):
        drawn = words(count, draw, seed, step)
        for v, w in zip(drawn[::2], drawn[1::2], strict=True):
            radius = (-2 * between_0_and_1(v).ln()).sqrt()
            turns = Fraction(2 * w + 1, 2**33)
            found += [nearest(radius * sine(turns + Fraction(1, 4))), nearest(radius * sine(turns))]
    return np.array(found[:count]).reshape(shape)


def exponential(shape: list[int], draw: int, seed: int, step: int) -> Array:
    count = math.prod(shape)
    with decimal.localcontext(prec=60):
        found = [nearest(-between_0_and_1(w).ln()) for w in words(count, draw, seed, step)[:count]]
    return np.array(found).reshape(shape)


DRAWS = {"counterfoil.uniform": uniform, "counterfoil.normal": normal, "counterfoil.exponential": exponential}
TWO_PI = decimal.Decimal("6.28318530717958647692528676655900576839433879875021164194988918461563")


# The grid: numerics.md.


@dataclass(frozen=True)
class Grid:
    p: int
    guard: int


def exponent_of(scale: float) -> int | None:
    need(math.isfinite(scale) and scale < 2.0**128, "a scale beyond float32's range")
    return ZERO if scale == 0 else math.frexp(scale)[1] - 1


def quanta(y: Array, exponent: int | None, grid: Grid) -> Array:
    floor = max(-126 if exponent is ZERO else exponent - grid.guard, -126)
    own = np.where(y == 0, floor, np.frexp(y)[1] - 1)
    return np.ldexp(1.0, np.maximum(own, floor) - grid.p + 1)


def rounded(y: Array, exponent: int | None, grid: Grid) -> Array:
    u = quanta(y, exponent, grid)
    return np.rint(y / u) * u + 0.0


def explained(theirs: int | None, scale: float) -> bool:
    """Whether an honest machine may have this E where the own scale is ``scale``."""
    if theirs is ZERO or scale == 0:
        return theirs is ZERO and scale == 0
    low, high = (math.frexp(scale * (1 + sign * 2.0**-10))[1] - 1 for sign in (-1, 1))
    return low <= theirs <= high


@dataclass
class Counts:
    corrections: int = 0
    contradictions: int = 0
    omissions: int = 0


def finite(value: Any) -> Any:
    """0 in the place of every infinity."""
    return np.where(np.isinf(value), 0.0, value) if getattr(value, "dtype", None) == np.float64 else value


def follow(
    values: Array, scale: float, margin_bits: int, grid: Grid, log: SiteLog, counts: Counts, passing: bool
) -> Array:
    """Round flat values, in the trainer's direction where the own value is close to the midpoint too.

    ``passing``: infinities, which an argument holds as well, pass; they are on no grid and far from any midpoint.
    """
    y = finite(values) if passing else values
    own, theirs = exponent_of(scale), log.exponent
    if not explained(theirs, scale):
        counts.contradictions += 1
    near = own is not ZERO and theirs is not ZERO and abs(own - theirs) <= 1
    exponent = theirs if near else own
    tau = 0.0 if exponent is ZERO else math.ldexp(1.0, exponent - margin_bits)
    result, u = rounded(y, exponent, grid), quanta(y, exponent, grid)
    need((np.abs(y) < 2.0**128).all(), "a value beyond float32's range")
    remainder = y - result
    distance = np.where(y == values, u / 2 - np.abs(remainder), np.inf)
    if exponent is not ZERO:
        logged = np.zeros(y.size, bool)
        logged[log.indices] = True
        counts.omissions += int(((distance <= tau / 4) & ~logged).sum())
    for index, up in zip(log.indices, log.ups, strict=True):
        if distance[index] > 2 * tau:
            counts.contradictions += 1
        elif up != (remainder[index] < 0):
            result[index] += math.copysign(u[index], remainder[index])
            result[index] += 0.0
            counts.corrections += 1
    return np.where(y == values, result, values)


def own_log(values: Array, scale: float, margin_bits: int, grid: Grid, passing: bool) -> SiteLog:
    """What whoever records logs of flat values: those within tau of a midpoint, and which way each was rounded."""
    y, exponent = finite(values) if passing else values, exponent_of(scale)
    if exponent is ZERO:
        return SiteLog(exponent)
    remainder = y - rounded(y, exponent, grid)
    near = quanta(y, exponent, grid) / 2 - np.abs(remainder) <= math.ldexp(1.0, exponent - margin_bits)
    indices = np.flatnonzero(near & (y == values))
    return SiteLog(exponent, indices.tolist(), (remainder[indices] < 0).tolist())


# Fingerprints: bundle-format.md, section 8.


def step_key(order: bytes, step: int) -> int:
    return int.from_bytes(sha256(order + b"fingerprint" + step.to_bytes(8, "little"))[:8], "little")


def fingerprint(values: Array, key: int, place: int) -> int:
    """Of floating-point values, integers or truth values in C order."""
    flat = np.ascontiguousarray(values).ravel()
    flat = flat.astype(np.float64) if flat.dtype == np.float32 else flat
    if flat.dtype == np.float64:
        bits = np.where(np.isnan(flat), np.uint64(0x7FF8000000000000), flat.view(np.uint64))
    else:
        bits = flat.astype(np.int64).view(np.uint64)
    with np.errstate(over="ignore"):
        i = np.arange(1, bits.size + 1, dtype=np.uint64)
        z = (bits ^ np.uint64((key + (place + 1) * 0xD6E8FEB86659FD93) & MASK)) + i * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(32))) * np.uint64(0xBF58476D1CE4E5B9)
        return int((z ^ (z >> np.uint64(29))).sum(dtype=np.uint64))


def deciding_arguments(node: dict[str, Any]) -> list[Any]:
    """The arguments of a node on which a discrete decision hangs."""
    positions, _, condition = ROWS[short(node)].decides.partition(" if ")
    if condition and node["outputs"][0]["dtype"] == "float32":
        return []
    return [node["args"][at] for at in map(int, re.findall(r"\d+", positions)) if at < len(node["args"])]


def numbers(value: Any) -> list[int]:
    """Numbers of the values in an argument."""
    if isinstance(value, list):
        return [number for item in value for number in numbers(item)]
    return [value["value"]] if isinstance(value, dict) and "value" in value else []


def deciding_values(program: dict[str, Any]) -> set[int]:
    """Numbers of the values on which a discrete decision hangs; a view stands for what it shows."""
    shown: dict[int, int] = {}
    found = set()
    following = len(program["inputs"])
    for node in program["nodes"]:
        first, following = following, following + len(node["outputs"])
        if ROWS[short(node)].sort == "view":
            base = numbers(node["args"][0])[0]
            shown |= dict.fromkeys(range(first, following), shown.get(base, base))
        found |= {shown.get(number, number) for number in numbers(deciding_arguments(node))}
    return found


# A step.


def short(node: dict[str, Any]) -> str:
    return str(node["op"]).removeprefix("aten.")


def is_rounded(node: dict[str, Any]) -> bool:
    """The class of one use: operators of integers are exact, and so are sums whose alpha is 1 or -1."""
    if node["op"] in DRAWS or not any(o and o["dtype"] == "float32" for o in node["outputs"]):
        return False
    if "alpha" in ROWS[short(node)].sort:
        return ROWS[short(node)].named(node["args"], node["kwargs"]).alpha not in (1, -1)
    return ROWS[short(node)].sort == "rounded"


def argument(value: Any, values: list[Any]) -> Any:
    if isinstance(value, list):
        return [argument(item, values) for item in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "value":
        return values[content]
    return float.fromhex(content) if kind == "float" else int(content) if kind == "int" else content


def proven_margin(bound: tuple[int, float]) -> int:
    """The largest m that a bound proves."""
    n, c = bound
    gamma = n * 2.0**-53 / (1 - n * 2.0**-53)
    return math.floor(-math.log2(4 / 3 * 4 * c * (1 + 2.0**-8) * gamma))


@dataclass(frozen=True)
class Part:
    """Which part of a step is computed: all of it, a share, or its update; numerics.md, "Shares".

    Attributes:
        rows: The first of the rows of the step, and the one behind its last.
        first: What is added to the numbers of draws.
        combined: What the shares gave, combined.
    """

    rows: tuple[int, int | None] = (0, None)
    first: int = 0
    combined: Mapping[str, Array] = field(default_factory=dict)


WHOLE = Part()


@dataclass
class Step:
    """What a step, or a part of it, gave; the log is that of its own roundings, or the one that was followed."""

    state: dict[str, Array]
    loss: float
    fingerprints: list[int]
    counts: Counts
    combined: dict[str, Array]
    log: list[SiteLog]

    @property
    def row(self) -> Array:
        return np.array(self.fingerprints, np.uint64)


class Steps:
    """What the replays of both kinds of profile share."""

    floating: Any
    """The compute dtype."""
    compute: Mapping[str, Callable[[Any], Any]]
    """What computes an operator, by its name."""

    def __init__(self, bundle: Bundle, name: str = "", *, update: bool = False) -> None:
        self.bundle = bundle
        self.program = (bundle.updates if update else bundle.programs)[name]
        self.nodes = self.program["nodes"]
        for node in self.nodes:
            need(short(node) in self.compute or node["op"] in DRAWS, f"{node['op']} is not supported")
        self.deciding = deciding_values(self.program)
        self.sites = [
            math.prod(o["shape"])
            for node in filter(is_rounded, self.nodes)
            for o in node["outputs"]
            if o and o["dtype"] == "float32"
        ]

    def step(self, step: int, state: dict[str, Array], log: list[SiteLog] | None, part: Part = WHOLE) -> Step:
        """Replay a step or a part of it; without a log every value is rounded by itself."""
        program, counts, sites = self.program, Counts(), iter(log or [])
        self.followed: list[SiteLog] = []
        self.margins_used: list[int] = []
        as_declared = self._as_declared
        key, seed = step_key(self.bundle.digest, step), int(self.bundle.manifest["seed"])
        values = self._inputs(step, state, part)
        fingerprints: list[int] = []

        def watch(value: Array) -> None:
            fingerprints.append(fingerprint(value, key, len(fingerprints)))

        for value, item in zip(values, program["inputs"], strict=True):
            if item["kind"] == "batch":
                watch(value)
        for node in self.nodes:
            args, kwargs = argument(node["args"], values), argument(list(node["kwargs"].values()), values)
            if node["op"] in DRAWS:
                # 24 bits, which every compute dtype holds.
                shape, draw = args
                drawn = DRAWS[node["op"]](shape, (part.first + draw) % 2**32, seed=seed, step=step)
                values.append(drawn.astype(self.floating))
                watch(values[-1])
                continue
            named = ROWS[short(node)].named(args, dict(zip(node["kwargs"], kwargs, strict=True)))
            with np.errstate(all="ignore"):
                computed = self.compute[short(node)](named)
            computed = computed if isinstance(computed, (list, tuple)) else [computed]
            outputs = [as_declared(y, o) for y, o in zip(computed, node["outputs"], strict=True)]
            if is_rounded(node):
                outputs = self._rounded(node, named, outputs, sites, counts)
            for position, y in enumerate(outputs):
                floating = y is not None and y.dtype == self.floating
                if floating and (is_rounded(node) or len(values) + position in self.deciding):
                    watch(y)
            values.extend(outputs)
        updates = program["updates"]
        # Stored as float32, ties to even.
        new = {name: values[updates[name]].astype(a.dtype) if name in updates else a for name, a in state.items()}
        given = {name: values[number].astype(np.float32) for name, number in program.get("combined", {}).items()}
        need(all(np.isfinite(value).all() for value in given.values()), "a share gives what is not finite")
        return Step(new, float(values[program["loss"]]), fingerprints, counts, given, self.followed)

    def _rounded(self, node: Any, named: Any, outputs: Any, sites: Iterator[SiteLog], counts: Counts) -> list[Any]:
        raise NotImplementedError

    @property
    def draws(self) -> int:
        """D: one more than the largest draw number."""
        return 1 + max((node["args"][1] for node in self.nodes if node["op"] in DRAWS), default=-1)

    def decoded(self, log: bytes) -> list[SiteLog]:
        return decode_log(log, self.sites)

    def _inputs(self, step: int, state: dict[str, Array], part: Part) -> list[Array]:
        arrays, names = self.bundle.arrays, self.bundle.manifest["scalar_names"]
        rows = arrays["order/schedule"][step - 1][slice(*part.rows)]
        scalars = dict(zip(names, arrays["order/scalars"][step - 1], strict=True))
        read = {
            "state": state.get,
            "scalar": scalars.get,
            "batch": lambda name: arrays[f"order/data/{name}"][rows],
            "combined": part.combined.get,
        }
        return [self._as_declared(read[item["kind"]](item["name"]), item) for item in self.program["inputs"]]

    def _as_declared(self, value: Any, declared: dict[str, Any] | None) -> Array | None:
        """A value as the program declares it: converted to its dtype, and of its shape."""
        if declared is None:
            return None
        array = np.asarray(value).astype(DTYPES.get(declared["dtype"], self.floating))
        need(list(array.shape) == declared["shape"], "an output of another shape than declared")
        return array

    def replay(self, step: int, state: dict[str, Array]) -> tuple[Step, bytes]:
        """Replay a step with the trainer's log; returns its Merkle leaf too, which holds that log's digest."""
        result = self.step(step, state, self.decoded(self.bundle.log(step)))
        root = state_root(result.state) if self.bundle.committed(step) else None
        row = result.row.astype("<u8").tobytes()
        return result, leaf(step_record(step, root, self.bundle.log(step), row, result.loss))


class Replayer(Steps):
    """Rounds to a grid, and follows the log."""

    floating = np.float64
    compute = COMPUTE

    def __init__(self, bundle: Bundle, name: str = "", *, update: bool = False) -> None:
        super().__init__(bundle, name, update=update)
        profile = bundle.manifest["precision"]
        self.grid = Grid(profile["significand_bits"], profile["guard_bits"])
        self.margins, self.margin_bits = profile["margins"], profile["margin_bits"]
        self.proven = profile["proven"]
        need(profile["compute"] == "float64", "this replayer computes in float64 only")

    def _rounded(self, node: Any, named: Any, outputs: Any, sites: Iterator[SiteLog], counts: Counts) -> list[Any]:
        row, kind = ROWS[short(node)], short(node).split(".")[0]
        # S is taken of the outputs before rounding.
        rule = SCALES[row.scale]
        scales = rule(named, outputs)
        held = any(isinstance(v, np.ndarray) and np.isinf(v).any() for v in named.values())
        passing = held and not all(map(math.isfinite, scales))
        if passing:
            scales = rule(Arguments({name: finite(v) for name, v in named.items()}), [finite(y) for y in outputs])
        result = list(outputs)
        for position, y in enumerate(outputs):
            if y is not None and y.dtype == np.float64:
                scale, bits = scales[position], self.margins.get(kind, self.margin_bits)
                if self.proven:
                    proven = proven_margin(BOUNDS[kind](named)[position])
                    # A bound that does not fit the grid proves nothing.
                    bits = min(bits, proven) if proven >= self.grid.p + self.grid.guard + 2 else bits
                self.margins_used.append(bits)
                site = next(sites, None) or own_log(y.ravel(), scale, bits, self.grid, passing)
                self.followed.append(site)
                result[position] = follow(y.ravel(), scale, bits, self.grid, site, counts, passing).reshape(y.shape)
        return result
