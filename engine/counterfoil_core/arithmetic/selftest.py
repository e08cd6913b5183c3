"""A small test of a machine before it records or audits: known answers for all that a precision profile computes with.

Whoever fails it has broken hardware, or a library that computes something else than it says: under an emulated
processor float32 products were wrong by half (:mod:`counterfoil_core.arithmetic.knownproducts`).
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.arithmetic.compute.draws import draw_numbers
from counterfoil_core.arithmetic.compute.interpreter import Draws, StepInputs, StepResult
from counterfoil_core.arithmetic.grid.directions import apply_directions
from counterfoil_core.arithmetic.grid.log import SiteLog, decode, encode
from counterfoil_core.arithmetic.knownproducts import products_are_right
from counterfoil_core.arithmetic.machine import Machine
from counterfoil_core.arithmetic.profiles import arithmetic_of
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import DeviceError, LogError
from counterfoil_core.base.precision import AnyPrecision, ExactPrecision, Precision
from counterfoil_core.base.sentence import say
from counterfoil_core.commit.statedigest import root_of
from counterfoil_core.kernels.cpu.rounding import mix_values
from counterfoil_core.kernels.exact.forms import is_sound
from counterfoil_core.kernels.exact.philox import philox4x32, uniform
from counterfoil_core.kernels.exact.products import Form
from counterfoil_core.kernels.exact.rows import row_frexp
from counterfoil_core.kernels.grid import Grid
from counterfoil_core.operators.facts import EXPONENTIAL, NORMAL, UNIFORM
from counterfoil_core.operators.node import Node, TensorType, Value
from counterfoil_core.program.graph import Input, Program
from counterfoil_core.program.torchdtypes import TORCH_DTYPES

_PHILOX_COUNTER = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344)
_PHILOX_KEY = (0xA4093822, 0x299F31D0)
_PHILOX_ANSWER = (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)
"""Random123's known-answer vector for Philox4x32-10 with the digits of pi."""
DRAW_DIGESTS = {
    UNIFORM: "852e4aa3a305d92caa73f7495a4843c95d98eef5704038ce4438400ab118462a",
    NORMAL: "b2f1dae698622b65e005814b265e7561d96caf5cc5d7ba4a6369094a0efbdbcb",
    EXPONENTIAL: "c107488c858ba17922bbccf4b52f89808677949786d57f8f7bb9f2431dd89a23",
}
"""SHA-256 of the first elements of each kind of draw as their definition has them, float32 in little-endian order.

A test works them out with integers and 256 bits, which takes longer than all the rest of this module.
"""
_SHA256_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
"""FIPS 180-4, the example "abc"."""
STATE_ROOT = "15f366d4937168256567a045367094cbca273c068af18ff556a78333d5c0f8a4"
"""State root after the step of :func:`tiny_program`; changes only with the numerics, and then with the format."""
FINGERPRINT = 0x9A9E58DBB61F8B4D
"""Exclusive or of its fingerprints."""
EXACT_STATE_ROOT = "13f096edcfd9958d5e613ab4ce184863119fc36d9ed1aaafbef5d27fa28f6c4e"
"""State root after the step of :func:`exact_program` under exact-20."""
EXACT_FINGERPRINT = 0x0D5AFE828B8021C4
"""Exclusive or of its fingerprints."""
EXACT_ROOTS = {13: ("3e8607de0fbc7cea8eff80ee2a75165f5e4cedffe166d758f394459607e3b16e", 0x1499C283011FEB5A)}
"""The same under profiles whose numbers have another count of digits."""
MIXED = 0x6D3CAC558B17FB6B
"""The fingerprint term of the number 1.5 at the index 3 under the key 5."""
LOG = "010703015c04"
"""The bytes of the log of :data:`_LOGGED`."""
CHAIN_ROOT = "3e2d61bd11c772d1bbbba53380c8acadc0f7a180317e99405b5d73c6e8b699c4"
"""State root after the step of :func:`chain_program`."""
CHAIN_FINGERPRINT = 0xFF88A93AABE2028A
"""Exclusive or of its fingerprints."""
FOLLOWED_ROOT = "06faeae34d29b06d3a455dead8acaf57d512adcfe9d7e3b811af02b149d82306"
"""State root where its log says of the first four values that they were rounded down: two of them are followed."""


def tiny_program() -> Program:
    """A step of a few operators of every class: w' = w - 0.125 * tanh(x w)^T x summed over a batch, and its loss."""
    matrix, inputs = TensorType("float32", (24, 24)), TensorType("float32", (16, 24))
    hidden, scalar = TensorType("float32", (16, 24)), TensorType("float32", ())
    flipped = TensorType("float32", (24, 16))
    return Program(
        inputs=(Input("w", "state", matrix), Input("x", "state", inputs)),
        nodes=(
            Node("aten.mm.default", (Value(1), Value(0)), (), (hidden,), 2, "layer", "forward"),
            Node("aten.tanh.default", (Value(2),), (), (hidden,), 3, "activation", "forward"),
            Node("aten.t.default", (Value(1),), (), (flipped,), 4, "layer", "backward"),
            Node("aten.mm.default", (Value(4), Value(3)), (), (matrix,), 5, "layer", "backward"),
            Node("aten.mul.Tensor", (Value(5), 0.125), (), (matrix,), 6, "w", "update"),
            Node("aten.sub.Tensor", (Value(0), Value(6)), (), (matrix,), 7, "w", "update"),
            Node("aten.sum.default", (Value(3),), (), (scalar,), 8, "", "forward"),
        ),
        updates={"w": Value(7)},
        loss=Value(8),
    )


def tiny_inputs() -> StepInputs:
    """The inputs of :func:`tiny_program`, from Philox."""
    return StepInputs({"w": _draw((24, 24), 12), "x": _draw((16, 24), 13)}, {}, {}, Draws(1, 1))


def chain_program() -> Program:
    """A step of elementwise operators that are computed together, with one rounding site: w' = -(w (1 + 2^-24) / 1)."""
    vector, scalar = TensorType("float32", (_FOR_A_CHAIN,)), TensorType("float32", ())
    return Program(
        inputs=(Input("w", "state", vector),),
        nodes=(
            Node("aten.mul.Tensor", (Value(0), 1.0 + 2.0**-24), (), (vector,), 1, "w", "update"),
            Node("aten.div.Tensor", (Value(1), 1.0), (), (vector,), 2, "w", "update"),
            Node("aten.neg.default", (Value(2),), (), (vector,), 3, "w", "update"),
            Node("aten.sum.default", (Value(0),), (), (scalar,), 4, "", "forward"),
        ),
        updates={"w": Value(3)},
        loss=Value(4),
    )


def chain_inputs() -> StepInputs:
    """The inputs of :func:`chain_program`: at the rounding site the k-th value lies k tau above a midpoint."""
    steps = torch.arange(_FOR_A_CHAIN, dtype=torch.float64)
    return StepInputs({"w": (1.0 + steps * 2.0 ** (24 - Precision().margin_bits)).float()}, {}, {}, Draws(1, 1))


def exact_inputs() -> StepInputs:
    """The inputs of :func:`exact_program`, from Philox."""
    return StepInputs({"w": _draw((8, 16, 3, 3), 14), "x": _draw((2, 16, 12, 12), 15)}, {}, {}, Draws(1, 1))


def _draw(shape: tuple[int, ...], number: int) -> Tensor:
    return uniform(shape, seed=1, step=1, draw=number, dtype=torch.float32, device="cpu") - 0.5


def exact_program() -> Program:
    """A step of the single operations of the exact profiles: products of each sort, sums, functions and a quotient.

    w' = w - 0.125 * (gradient of the convolution of x with w at tanh of itself), and as loss the sum of roots
    of exp of a batched product of it, divided by a product of two matrices.
    """

    def number(*shape: int) -> TensorType:
        return TensorType("float32", shape)

    image, kernel, planes = number(2, 16, 12, 12), number(8, 16, 3, 3), number(2, 8, 12, 12)
    batch, flat, row, scalar = number(8, 12, 24), number(16, 144), number(16, 16), number()
    settings = ((1, 1), (1, 1), (1, 1), False, (0, 0), 1)
    nodes = (
        Node("aten.convolution.default", (Value(1), Value(0), None, *settings), (), (planes,), 2, "layer", "forward"),
        Node("aten.tanh.default", (Value(2),), (), (planes,), 3, "activation", "forward"),
        Node(
            "aten.convolution_backward.default",
            (Value(3), Value(1), Value(0), None, *settings, (True, True, False)),
            (),
            (image, kernel, None),
            4,
            "layer",
            "backward",
        ),
        Node("aten.view.default", (Value(3), (8, 12, 24)), (), (batch,), 7, "attention", "forward"),
        Node("aten.transpose.int", (Value(7), 1, 2), (), (number(8, 24, 12),), 8, "attention", "forward"),
        Node("aten.bmm.default", (Value(7), Value(8)), (), (number(8, 12, 12),), 9, "attention", "forward"),
        Node("aten.mul.Tensor", (Value(9), 0.1), (), (number(8, 12, 12),), 10, "attention", "forward"),
        Node("aten.exp.default", (Value(10),), (), (number(8, 12, 12),), 11, "attention", "forward"),
        Node("aten.sqrt.default", (Value(11),), (), (number(8, 12, 12),), 12, "attention", "forward"),
        Node("aten.sum.dim_IntList", (Value(12), (0, 2)), (), (number(12),), 13, "attention", "forward"),
        Node("aten.view.default", (Value(3), (16, 144)), (), (flat,), 14, "head", "forward"),
        Node("aten.t.default", (Value(14),), (), (number(144, 16),), 15, "head", "forward"),
        Node("aten.mm.default", (Value(14), Value(15)), (), (row,), 16, "head", "forward"),
        Node("aten.sum.default", (Value(13),), (), (scalar,), 17, "", "forward"),
        Node("aten.amax.default", (Value(16), ()), (), (scalar,), 18, "", "forward"),
        Node("aten.div.Tensor", (Value(17), Value(18)), (), (scalar,), 19, "", "forward"),
        Node("aten.mul.Tensor", (Value(5), 0.125), (), (kernel,), 20, "w", "update"),
        Node("aten.sub.Tensor", (Value(0), Value(20)), (), (kernel,), 21, "w", "update"),
    )
    return Program(
        inputs=(Input("w", "state", kernel), Input("x", "state", image)),
        nodes=nodes,
        updates={"w": Value(21)},
        loss=Value(19),
    )


def run_selftest(machine: Machine, precision: AnyPrecision) -> str:
    """Test hashing, randomness, products, rounding and execution; returns what was found, as a sentence.

    Args:
        machine: The machine.
        precision: The profile that it is to compute under.

    Raises:
        DeviceError: An answer differs from the known one: nothing that this machine computes can be relied on.
    """
    torch_device = machine.device
    if Digest.of(b"abc").hex != _SHA256_ABC:
        raise _failed("SHA-256")
    words = tuple(torch.tensor([word], device=torch_device) for word in _PHILOX_COUNTER)
    answer = philox4x32((words[0], words[1], words[2], words[3]), _PHILOX_KEY)
    if tuple(int(word) for word in answer) != _PHILOX_ANSWER:
        raise _failed(say("the Philox generator"))
    if not _draws_as_defined(torch_device):
        raise _failed(say("random numbers"))
    if not _keeps_subnormals(machine):
        raise _failed(say("subnormal numbers"), "flushed to zero")
    for name in arithmetic_of(precision).product_dtypes:
        if not products_are_right(torch_device, TORCH_DTYPES[name]):
            raise _failed(say("products in {0}", name))
    if isinstance(precision, ExactPrecision):
        if precision.rows and not _divides_rows(torch_device):
            raise _failed(say("rows as fractions of powers of two"))
        _test_exact_step(machine, ExactPrecision(20), EXACT_STATE_ROOT, EXACT_FINGERPRINT)
        if precision.bits in EXACT_ROOTS:
            _test_exact_step(machine, precision, *EXACT_ROOTS[precision.bits])
        return say("Known answers for SHA-256, Philox and an exact training step came out right on {0}.", torch_device)
    _test_rounded_step(machine)
    _test_rules(machine)
    return say("Known answers for SHA-256, Philox and a rounded training step came out right on {0}.", torch_device)


_DRAWN = 64
_DRAWN_WITH = {"seed": 2**40 + 1, "step": 3, "draw": 5}


def _draws_as_defined(device: torch.device) -> bool:
    """Whether each kind of draw gives what integers and 256 bits make of the same words."""
    return all(_draw_digest(operator, device) == digest for operator, digest in DRAW_DIGESTS.items())


def _draw_digest(operator: str, device: torch.device) -> str:
    elements = draw_numbers(operator, (_DRAWN,), dtype=torch.float32, device=device, **_DRAWN_WITH)
    return Digest.of(elements.cpu().numpy().astype("<f4").tobytes()).hex


_FOR_A_CHAIN = 4096
"""Elements that are computed in a chain."""
_FOR_A_THREAD = 1 << 16
"""Elements of which torch gives each thread some."""


def _keeps_subnormals(machine: Machine) -> bool:
    """Whether float32 numbers below the normal ones are computed with, and not taken for zero, in every thread.

    A processor may be told to flush them, which some libraries do to the whole process when they are loaded. Bits are
    compared: where they are flushed these numbers equal zero.
    """
    least = torch.ones(_FOR_A_THREAD * machine.threads, dtype=torch.int32, device=machine.device)
    small = least.view(torch.float32)
    shorter = (torch.full_like(small, 1.5, dtype=torch.float64) * 2.0**-148).to(torch.float32)
    known = ((small + small, 2), (small * 3.0, 3), (small / 0.25, 4), (shorter, 3))
    widened = small.to(torch.float64) * 2.0**149
    return bool((widened == 1).all()) and all(bool((x.view(torch.int32) == bits).all()) for x, bits in known)


_ROWS = ((6.0, -1.5), (3 * 2.0**-149, -(2.0**-149)), (0.0, -0.0), (2.0**-126, 2.0**127))
_FRACTIONS = ((1.5, -0.375), (1.5, -0.5), (0.0, -0.0), (0.0, 1.0))
_POWERS = ((4.0,), (2.0**-148,), (2.0**-149,), (2.0**127,))


def _divides_rows(device: torch.device) -> bool:
    """Whether rows are the fractions of the powers of two that they are, whether they lie in rows or in columns."""
    x = torch.tensor(_ROWS, device=device)
    known = [torch.tensor(right).view(torch.int32) for right in (_FRACTIONS, _POWERS)]
    return all(
        torch.equal(found.cpu().contiguous().view(torch.int32), right)
        for laid in (x, x.mT.contiguous().mT)
        for found, right in zip(row_frexp(laid), known, strict=True)
    )


def _test_rounded_step(machine: Machine) -> None:
    program, precision = tiny_program(), Precision()
    interpreter = machine.interpreter(program, precision)
    with machine.kernels() as kernels:
        recording = arithmetic_of(precision).recorder(program, kernels)
        recording.begin_step(1)
        recorded = interpreter.run(tiny_inputs(), rounder=recording)
        replaying = arithmetic_of(precision).replayer(program, kernels)
        replaying.follow(1, recording.logs)
        replayed = interpreter.run(tiny_inputs(), rounder=replaying)
    root, total = _root(recorded), int(np.bitwise_xor.reduce(recording.fingerprints))
    if root != STATE_ROOT or total != FINGERPRINT:
        raise _failed(say("a rounded training step"), f"{root} {total:#x}")
    if any(not torch.equal(recorded.state[name], replayed.state[name]) for name in recorded.state):
        raise _failed(say("the replay of a training step"))


_LOGGED = SiteLog(3, np.array([0, 6, 7]), np.array([True, False, True]))


def _test_rules(machine: Machine) -> None:
    """Test what a rounded step consists of inside: the log, fingerprints, and a chain whose log is followed.

    What was compiled of other sources than these would give other answers (:mod:`counterfoil_core.kernels.cache`).
    """
    encoded = encode([_LOGGED])
    if encoded.hex() != LOG or not _decodes(encoded):
        raise _failed(say("the rounding log"), encoded.hex())
    mixed = int(mix_values(np.array([1.5]), np.array([3]), np.uint64(5)))
    if mixed != MIXED:
        raise _failed(say("fingerprints"), f"{mixed:#x}")
    program, precision = chain_program(), Precision()
    own = (1.0 + np.arange(4.0) * 2.0 ** (24 - precision.margin_bits)) * (1.0 + 2.0**-24)
    grid = Grid(0, precision.significand_bits, precision.guard_bits, precision.margin_bits)
    counts, after, _ = apply_directions(
        own, own.astype(np.float32).astype(np.float64), np.zeros(4, np.bool_), grid, 0.75
    )
    if (counts.corrections, counts.contradictions) != (2, 1) or np.count_nonzero(after > own) != 1:
        raise _failed(say("logged directions"), f"{counts}")
    interpreter = machine.interpreter(program, precision)
    with machine.kernels() as kernels:
        recording = arithmetic_of(precision).recorder(program, kernels)
        # The first step finds E, which the second one assumes.
        for _ in range(2):
            recording.begin_step(1)
            recorded = interpreter.run(chain_inputs(), rounder=recording)
        down = SiteLog(recording.logs[0].exponent, np.arange(4), np.zeros(4, np.bool_))
        replaying = arithmetic_of(precision).replayer(program, kernels)
        replaying.follow(1, [down, *recording.logs[1:]])
        followed = interpreter.run(chain_inputs(), rounder=replaying)
    root, total = _root(recorded), int(np.bitwise_xor.reduce(recording.fingerprints))
    if (root, total, _root(followed)) != (CHAIN_ROOT, CHAIN_FINGERPRINT, FOLLOWED_ROOT):
        raise _failed(say("a chain of operators"), f"{root} {total:#x} {_root(followed)}")


def _decodes(encoded: bytes) -> bool:
    try:
        (log,) = decode(encoded, [9])
    except LogError:
        return False
    return np.array_equal(log.indices, _LOGGED.indices) and np.array_equal(log.ups, _LOGGED.ups)


def _test_exact_step(machine: Machine, precision: ExactPrecision, right_root: str, right_total: int) -> None:
    """Compute a step in the forms of products that this machine uses; what they give does not depend on S alone."""
    program = exact_program()
    if not is_sound(str(machine.device), Form.FLOAT64):
        raise _failed(say("exact products"))
    with machine.kernels() as kernels:
        rounder = arithmetic_of(precision).recorder(program, kernels)
        rounder.begin_step(1)
        result = machine.interpreter(program, precision).run(exact_inputs(), rounder=rounder)
    root, total = _root(result), int(np.bitwise_xor.reduce(rounder.fingerprints))
    if root != right_root or total != right_total:
        raise _failed(say("an exact training step"), f"{root} {total:#x}")


def _root(result: StepResult) -> str:
    return root_of(result.state).hex


def _failed(what: str, detail: str = "") -> DeviceError:
    return DeviceError(
        say("This machine computes {0} wrongly, so nothing can be concluded from a replay on it.", what),
        remedy=say("Use another machine; if this one is sound, report the versions of torch and numpy."),
        detail=detail,
    )
