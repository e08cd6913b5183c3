"""Vectors of single functions: each a JSON value with inputs and the results that follow from them on every machine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from benchmarks.vectors.recording import KEY_SEED, combination, trainer_key
from counterfoil_core.arithmetic.compute.draws import draw_numbers
from counterfoil_core.arithmetic.grid.fingerprints import Kernels, place_key, step_key
from counterfoil_core.arithmetic.grid.log import SiteLog, decode, encode
from counterfoil_core.arithmetic.grid.replayrounder import ReplayingRounder
from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.base.precision import Precision
from counterfoil_core.base.stoprule import StopRule
from counterfoil_core.bundle.schema import StepRecord
from counterfoil_core.commit.merkle import MerkleTree, leaf_hash
from counterfoil_core.commit.state import chunk_tree, state_root, tensor_digest, tensor_record
from counterfoil_core.kernels.exact import functions, products, sums
from counterfoil_core.kernels.exact.limits import sum_bits
from counterfoil_core.kernels.exact.philox import philox4x32, uniform
from counterfoil_core.kernels.exact.quantise import quantise
from counterfoil_core.kernels.grid import ZERO_SCALE, Grid
from counterfoil_core.operators.facts import EXPONENTIAL, NORMAL
from counterfoil_core.operators.node import Node, TensorType, Value
from counterfoil_core.program.graph import Input, Program
from counterfoil_core.signing.envelope import sign_statement
from counterfoil_core.signing.kinds import PAYLOAD_TYPE, make_statement

Array = npt.NDArray[Any]
_CPU = torch.device("cpu")
_hex = canonical.float_text


def _hexes(values: Sequence[float]) -> list[str]:
    return [_hex(value) for value in values]


def canonical_json() -> dict[str, Any]:
    """Values with their only spelling, and spellings that are refused."""
    values: list[Any] = [
        None, True, [], {}, 0, -7, 2**53 - 1, "", "\"\\/\b\f\n\r\t\x01\x7f", "\u00e4\u20ac\U0001f40d",
        {"b": 1, "a": [1, {"z": None, "\u00e4": 2, "Z": 3}], "\U0001f40d": 4, "\uffff": 5},
    ]  # fmt: skip
    refused = [
        b" 1", b"01", b"-0", b"1.0", b"1e3", b"9007199254740992", b'{"b":1,"a":2}', b'{"a":1,"a":1}', b'"\\u0041"',
        b'"\\u001F"', b'"\\/"', b"[1, 2]", b"NaN", b'"\xff"', b'\xef\xbb\xbf"x"',
    ]  # fmt: skip
    return {
        "accepted": [{"value": value, "bytes": canonical.encode(value).hex()} for value in values],
        "refused": [data.hex() for data in refused if _refuses(partial(canonical.decode, data))],
        "floats": [
            {"bits": f"{int(np.float64(x).view(np.uint64)):016x}", "text": _hex(x)}
            for x in (0.0, -0.0, 1.0, -1.5, 0.1, 2.0**-1074, 2.0**-1022, 1.7976931348623157e308, math.inf, -math.inf)
        ],
    }


def _refuses(call: Callable[[], Any]) -> bool:
    """Whether a call refuses; anything else than a refusal or a result is a fault of ours and passes through."""
    try:
        call()
    except CounterfoilError:
        return True
    raise AssertionError("a vector of something refused is accepted")


def merkle() -> dict[str, Any]:
    """Roots and inclusion proofs of trees over leaf(byte i), and roots of their first leaves."""
    trees = []
    for size in (0, 1, 2, 3, 5, 7, 8, 17):
        tree = MerkleTree(leaf_hash(bytes([i])) for i in range(size))
        chosen = range(size) if size < 8 else (0, 1, size // 2, size - 1)
        proofs = [{"index": i, "proof": [d.hex for d in tree.inclusion_proof(i)]} for i in chosen]
        trees.append({"size": size, "root": tree.root.hex, "inclusion": proofs})
    return {"leaves": [leaf_hash(bytes([i])).hex for i in range(17)], "trees": trees}


def digests() -> dict[str, Any]:
    """Tensor digests of arrays, the state root over them, and a step record with its Merkle leaf."""
    arrays: dict[str, Array] = {
        "weight": np.array([[1.5, -0.0, 2.0**-149], [math.inf, -1e30, 0.1]], np.float32),
        "count": np.array(-3, np.int64),
        "index": np.array([2**31 - 1, -(2**31)], np.int32),
        "byte": np.array([0, 255, 7], np.uint8),
        "mask": np.array([[True], [False]]),
        "empty": np.zeros((0, 3), np.float32),
        "schedule": np.arange(6).reshape(2, 3),
        "scalars": np.array([[0.1], [2.0**-1074]]),
        "long": np.arange(5000, dtype=np.float32),
        "B": np.array([1], np.uint8),
    }
    described = []
    for name, array in arrays.items():
        little = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        described.append(
            {
                "name": name,
                "dtype": array.dtype.name,
                "shape": list(array.shape),
                # 20,000 bytes, two chunks: the float32 numbers 0, 1, 2, ...
                "bytes": "0, 1, 2, ..." if name == "long" else little.hex(),
                "chunks": chunk_tree(array).root.hex,
                "record": tensor_record(name, array).decode(),
                "digest": tensor_digest(name, array).hex,
            }
        )
    record = StepRecord(7, None, Digest.of(b"log"), Digest.of(b"fingerprints"), 0.1)
    return {
        "tensors": described,
        "state_root": state_root(arrays).hex,
        "step_record": {
            "step": 7,
            "log": b"log".hex(),
            "fingerprints": b"fingerprints".hex(),
            "loss": _hex(0.1),
            "record": record.to_bytes().decode(),
            "leaf": leaf_hash(record.to_bytes()).hex,
        },
    }


def philox() -> dict[str, Any]:
    """Known answers of Philox4x32-10 (the first three are Random123's), and draws of ``counterfoil.uniform``."""
    ones = 0xFFFFFFFF
    known = [
        ((0, 0, 0, 0), (0, 0)),
        ((ones, ones, ones, ones), (ones, ones)),
        ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0)),
        ((1, 0, 2, 3), (5, 7)),
    ]
    draws = []
    for shape, seed, step, draw in (((5,), 1, 1, 0), ((2, 3), 2**64 - 1, 9, 1), ((1,), 7, 2**32 - 1, 2**32 - 1)):
        numbers = uniform(shape, seed=seed, step=step, draw=draw, dtype=torch.float64, device=_CPU)
        draws.append({"shape": list(shape), "seed": str(seed), "step": step, "draw": draw,
                      "values": _hexes(numbers.flatten().tolist())})  # fmt: skip
    return {
        "blocks": [{"counter": list(c), "key": list(k), "words": [int(w) for w in philox4x32(c, k)]} for c, k in known],
        "uniform": draws,
    }


def draws() -> dict[str, Any]:
    """Draws of ``counterfoil.normal`` and ``counterfoil.exponential``."""
    cases: dict[str, Any] = {}
    for operator in (NORMAL, EXPONENTIAL):
        cases[operator] = []
        for shape, seed, step, draw in (((10,), 1, 1, 0), ((2, 3), 2**64 - 1, 9, 1), ((1,), 7, 2**32 - 1, 2**32 - 1)):
            key = {"seed": seed, "step": step, "draw": draw}
            numbers = draw_numbers(operator, shape, dtype=torch.float64, device=_CPU, **key)
            cases[operator].append({"shape": list(shape), **key, "seed": str(seed),
                                    "values": _hexes(numbers.flatten().tolist())})  # fmt: skip
    return cases


def _near(exponent: int, p: int, guard: int) -> list[float]:
    """Numbers at, beside and between grid points of a grid."""
    floor = max(exponent - guard, -126)
    found = [0.0, -0.0]
    for e in (floor, exponent):
        quantum, base = math.ldexp(1.0, e - p + 1), math.ldexp(1.0, e)
        for steps in (0.0, 0.5, 1.5, -0.25, -0.5):
            middle = base + steps * quantum
            found += [middle, -math.nextafter(middle, 0.0), math.nextafter(middle, math.inf)]
    return [*found, math.ldexp(0.75, floor - p), math.ldexp(1.0, exponent + 1)]


def rounding() -> dict[str, Any]:
    """Values rounded to grids: p, G, the scale's exponent (null for a scale of zero)."""
    cases = []
    with closing(Kernels(_CPU, 1)) as kernels:
        for exponent, p, guard in ((0, 24, 8), (5, 18, 8), (-120, 24, 8), (-140, 24, 8), (100, 24, 0), (-3, 8, 4)):
            values = _near(exponent, p, guard)
            rounded = torch.tensor(values, dtype=torch.float64)
            kernels.round(rounded, Grid(exponent, p, guard, 50), 0.0, 0)
            cases.append({"p": p, "guard_bits": guard, "exponent": exponent, "values": _hexes(values),
                          "rounded": _hexes(rounded.tolist())})  # fmt: skip
    return {"cases": cases}


def _division(elements: int) -> Program:
    """A program whose one operator divides by 1: its scale is the largest magnitude, and its outputs are its inputs."""
    described = TensorType("float32", (elements,))
    node = Node("aten.div.Scalar", (Value(0), 1), (), (described,), 1, "", "forward")
    return Program((Input("x", "batch", described),), (node,), {}, Value(1))


def following() -> dict[str, Any]:
    """Own values rounded with a trainer's log: results, counts, and the scale's exponents that are used."""
    tau = 2.0**-44
    middle = 1.0 + 2.0**-24  # between 1 and 1 + 2^-23
    largest = 1.75
    nothing: tuple[int | None, list[int], list[bool]] = (0, [], [])
    cases: list[tuple[str, list[float], tuple[int | None, list[int], list[bool]]]] = [
        ("no entries", [largest, 1.0, -0.3], nothing),
        ("own direction", [largest, middle + tau / 2], (0, [1], [True])),
        ("other direction, within tau", [largest, middle + tau / 2], (0, [1], [False])),
        ("other direction, at 2 tau", [largest, middle - 2 * tau], (0, [1], [True])),
        ("farther than 2 tau", [largest, middle - 2 * tau - 2.0**-52], (0, [1], [True])),
        ("a tie, either way", [largest, middle, middle, 1 + 3 * 2.0**-24], (0, [1, 2, 3], [True, False, False])),
        ("negative", [-largest, -middle, -middle], (0, [1, 2], [True, False])),
        ("to zero", [largest, -(2.0**-32)], (0, [1], [True])),
        ("across a power of two", [largest, 1 - 2.0**-25 + tau / 4], (0, [1], [False])),
        ("omitted at tau / 4", [largest, middle + tau / 4, middle - tau / 4 - 2.0**-52], nothing),
        ("E' larger by one, explained", [2 - 2.0**-20, middle], (1, [], [])),
        ("E' larger by one, not explained", [1.5, middle], (1, [], [])),
        ("E' smaller by one, explained", [1 + 2.0**-20, 0.3], (-1, [], [])),
        ("E' larger by two", [1 - 2.0**-20, 0.3], (1, [], [])),
        ("the trainer's scale is zero", [1.5, 0.3], (None, [], [])),
        ("the own scale is zero", [0.0, -0.0], (0, [], [])),
        ("both scales are zero", [0.0, -0.0], (None, [], [])),
        ("infinities that the argument holds", [-math.inf, largest, middle, math.inf], (0, [2], [True])),
        ("an entry for an infinity", [-math.inf, largest], (0, [0], [True])),
    ]
    with closing(Kernels(_CPU, 1)) as kernels:
        return {"p": 24, "guard_bits": 8, "margin_bits": 44, "cases": [_follow(kernels, *case) for case in cases]}


def _follow(
    kernels: Kernels, what: str, values: list[float], log: tuple[int | None, list[int], list[bool]]
) -> dict[str, Any]:
    theirs, indices, ups = log
    program = _division(len(values))
    rounder = ReplayingRounder(program, Precision(), kernels)
    given = SiteLog(ZERO_SCALE if theirs is None else theirs, np.array(indices, np.int64), np.array(ups, np.bool_))
    rounder.follow(0, [given])
    x = torch.tensor(values, dtype=torch.float64)
    (result,) = rounder(program.nodes[0], lambda: {"self": x, "other": 1}, [x.clone()])
    assert result is not None
    (counts,) = rounder.counts
    return {
        "case": what,
        "values": _hexes(values),
        "scale": _hex(max(abs(value) for value in values if math.isfinite(value))),
        "log": {"exponent": theirs, "indices": indices, "ups": ups},
        "rounded": _hexes(result.tolist()),
        "corrections": counts.corrections,
        "contradictions": counts.contradictions,
        "omissions": counts.omissions,
    }


def logs() -> dict[str, Any]:
    """Rounding logs with their bytes, and bytes that are no log."""
    several: list[tuple[list[int], list[tuple[int | None, list[int], list[bool]]]]] = [
        ([], []),
        ([10], [(None, [], [])]),
        ([10, 300], [(0, [], []), (-1, [0], [True])]),
        ([8], [(127, list(range(8)), [True, False] * 4)]),
        ([100_000], [(-1074, [5, 70, 99_999], [False, True, True])]),
        ([64, 2**20], [(-9, [63], [True]), (3, [2**20 - 1], [False])]),
    ]
    accepted = []
    for elements, sites in several:
        encoded = encode([
            SiteLog(ZERO_SCALE if e is None else e, np.array(i, np.int64), np.array(u, np.bool_)) for e, i, u in sites
        ])  # fmt: skip
        assert len(decode(encoded, elements)) == len(sites)
        described = [{"exponent": e, "indices": i, "ups": u} for e, i, u in sites]
        accepted.append({"elements": elements, "sites": described, "bytes": encoded.hex()})
    one = [10]
    refused = [
        ("of no version", b"", one),
        ("of another version", b"\x02\x00\x00", one),
        ("too short", b"\x01\x01", one),
        ("too long", b"\x01\x01\x00\x00", one),
        ("a number not in its shortest form", b"\x01\x81\x00\x00", one),
        ("an exponent of 128", b"\x01\x81\x02\x00", one),
        ("an index out of range", b"\x01\x01\x01\x04\x0b\x00", one),
        ("padding that is not zero", b"\x01\x01\x01\x00\x82", one),
        ("more entries than elements", b"\x01\x01\x0b\x00\x00\x00\x00", one),
        ("a Rice parameter of 41", b"\x01\x01\x01\x29\x00\x00\x00\x00\x00\x00", one),
    ]
    return {
        "accepted": accepted,
        "refused": [
            {"case": what, "elements": elements, "bytes": data.hex()}
            for what, data, elements in refused
            if _refuses(partial(decode, data, elements))
        ],
    }


def fingerprints() -> dict[str, Any]:
    """Fingerprints of places: floating-point values, integers and truth values."""
    order = Digest.of(b"an order")
    quiet, other = (np.array([bits], np.uint64).view(np.float64)[0] for bits in (0x7FF8 << 48, 0xFFF8000000000001))
    arrays: list[tuple[int, int, Array]] = [
        (1, 0, np.array([0.0, -0.0, 1.5, -(2.0**-1074), math.inf])),
        (1, 1, np.array([quiet, other])),
        (10_000_000, 2, np.array([-1, 0, 2**63 - 1], np.int64)),
        (2, 300, np.array([0, 255], np.uint8)),
        (2, 301, np.array([True, False, True])),
        (2, 302, np.zeros(0)),
    ]
    with closing(Kernels(_CPU, 1)) as kernels:
        cases = [
            {
                "step": step,
                "place": place,
                "dtype": array.dtype.name,
                "bytes": np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes().hex(),
                "step_key": f"{step_key(order, step):016x}",
                "fingerprint": f"{_fingerprint(kernels, array, order, step, place):016x}",
            }
            for step, place, array in arrays
        ]
    return {"order": order.hex, "cases": cases}


def _fingerprint(kernels: Kernels, array: Array, order: Digest, step: int, place: int) -> int:
    return kernels.fingerprint(torch.from_numpy(array), place_key(step_key(order, step), place))


def signatures() -> dict[str, Any]:
    """A signed statement. The secret key is here, so the signature proves nothing: it is deterministic (RFC 8032)."""
    key = trainer_key()
    statement = make_statement([{"name": "x", "digest": {"sha256": Digest.of(b"x").hex}}], "urn:example", {"n": 1})
    payload = canonical.encode(statement)
    signed = f"DSSEv1 {len(PAYLOAD_TYPE)} {PAYLOAD_TYPE} {len(payload)} ".encode() + payload
    return {
        "secret_key": KEY_SEED.hex(),
        "public_key": key.public.pem,
        "key_id": key.public.key_id,
        "statement": statement,
        "signed_bytes": signed.hex(),
        "envelope": sign_statement(statement, key).decode(),
    }


def stopping() -> dict[str, Any]:
    """Rules to stop early, and the step after which they end a run with these losses."""
    losses = [
        [4.0, 3.0, 2.0, 1.0, 0.5], [3.0, 2.0, 2.0, 1.0], [3.0, 2.5, 2.25, 1.5, 1.5], [3.0, 0.5, 2.0, 1.0, 0.25],
        [math.nan, math.inf, 1.0, math.nan], [math.inf, math.inf], [-math.inf, -math.inf, 0.0], [0.0, -0.0, 2.0**-1074],
        [1.0 + 2.0**-52, 1.0, 1.0 - 2.0**-53], [1e300, 1e300 - 1e284, 0.0], [1.0],
    ]  # fmt: skip
    rules = [StopRule(patience, fall) for patience in (1, 2) for fall in (0.0, 2.0**-52, 0.5)]
    return {
        "runs": [
            {**rule.to_json(), "losses": _hexes(values), "step": rule.fires(values)}
            for values in losses
            for rule in rules
        ]
    }


_TINY, _HUGE = 2.0**-149, math.ldexp(2 - 2.0**-23, 127)
_FUNCTIONS: dict[str, Sequence[float]] = {
    # Values that lie so close to a midpoint that float64 does not tell on which side, and ends of the range.
    "exp": (0.0, 1.0, -0.5, 2.0**-24, -(2.0**-25), -103.5, -104.0, 88.5, -math.inf),
    "log": (1.0, 0.5, 3.0, _TINY, _HUGE, math.inf),
    "sqrt": (0.0, 2.0, 1 + 2.0**-23, _TINY, _HUGE),
    "rsqrt": (1.0, 2.0, 1 - 2.0**-23, _TINY, _HUGE),
    "reciprocal": (3.0, 1 - 2.0**-24, -_HUGE, 2.0**-127),
    "tanh": (0.0, 0.25, -1.0, 1e-10, 20.0, math.inf),
    "sigmoid": (0.0, 2.0**-23, -(2.0**-24), 3 * 2.0**-23, -103.5, 30.0),
    "expm1": (0.0, 2.0**-30, -1.0, 5.0, -100.0),
    "log1p": (0.0, 2.0**-30, -0.5, _HUGE),
}


def exact_operations() -> dict[str, Any]:
    """Single operations and their defined results, float32."""
    return {
        "quantised": [_quantised(values, bits) for values in _operands() for bits in (8, 13, 20, 24)],
        "products": [_product(shape, bits) for shape in ((2, 3, 2), (3, 17, 2), (1, 65, 1)) for bits in (13, 20)],
        "sums": [_sum(values) for values in (*_operands(), np.empty(0, np.float32), _drawn((70,), 7))],
        "functions": [
            {"kind": kind, "arguments": _texts(values), "values": _texts(_function(kind, values))}
            for kind, values in _FUNCTIONS.items()
        ],
    }


def _operands() -> list[Array]:
    """Ties, the carry to 2^b, both zeros, subnormal numbers, the ends of the range, and numbers of many magnitudes."""
    ties = [1.0, -0.75, 2.0**-8, 3 * 2.0**-14, -(2.0**-14), 2.0**-21, -3 * 2.0**-21, 5 * 2.0**-25]
    carry = [1 - 2.0**-24, -(1 - 2.0**-9), 0.5, -0.0]
    small = [_TINY, -3 * _TINY, 2.0**-126, 0.0, -0.0]
    large = [_HUGE, -_HUGE, 2.0**120, -1.0]
    return [np.array(values, np.float32) for values in (ties, carry, small, large, [0.0, -0.0])] + [_drawn((12,), 6)]


def _drawn(shape: tuple[int, ...], number: int) -> Array:
    """Numbers of both signs over several powers of two, from Philox."""
    first, second = (
        uniform(shape, seed=2026, step=1, draw=2 * number + n, dtype=torch.float32, device="cpu") for n in (0, 1)
    )
    scaled: Array = ((first * 2 - 1) * torch.exp2((second * 16).floor() - 8)).numpy()
    return scaled


def _quantised(values: Array, bits: int) -> dict[str, Any]:
    found = quantise(torch.from_numpy(values), bits)
    return {"values": _texts(values), "bits": bits, "unit": int(found.unit), "integers": found.integers.tolist()}


def _product(shape: tuple[int, int, int], bits: int) -> dict[str, Any]:
    rows, inner, columns = shape
    left, right = _drawn((rows, inner), inner), _drawn((inner, columns), inner + 1)
    found = products.matmul(torch.from_numpy(left), torch.from_numpy(right), bits)
    return {"shape": list(shape), "bits": bits, "left": _texts(left), "right": _texts(right), "product": _texts(found)}


def _sum(values: Array) -> dict[str, Any]:
    total = sums.total(torch.from_numpy(values))
    return {"values": _texts(values), "bits": sum_bits(len(values)), "sum": _texts(total[None])[0]}


def _function(kind: str, values: Sequence[float]) -> Tensor:
    return functions.evaluate(kind, torch.tensor(values, dtype=torch.float32))


def _texts(values: Array | Tensor | Sequence[float]) -> list[str]:
    return [canonical.float_text(float(np.float32(value))) for value in np.asarray(values).reshape(-1)]


def all_functions() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield file name and content of each vector, in the order of the README."""
    yield "canonical_json.json", canonical_json()
    yield "merkle.json", merkle()
    yield "digests.json", digests()
    yield "signatures.json", signatures()
    yield "philox.json", philox()
    yield "draws.json", draws()
    yield "rounding.json", rounding()
    yield "following.json", following()
    yield "logs.json", logs()
    yield "fingerprints.json", fingerprints()
    yield "exact_operations.json", exact_operations()
    yield "combination.json", combination()
    yield "stopping.json", stopping()
