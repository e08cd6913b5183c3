"""A small test of this machine before its first verdict: known answers, and one replayed step."""

from __future__ import annotations

import numpy as np
import torch

from counterfoil.bundle.schema import Precision
from counterfoil.commit.digest import Digest
from counterfoil.commit.state import state_root
from counterfoil.errors import DeviceError
from counterfoil.execution.interpreter import Draws, Interpreter, StepInputs
from counterfoil.execution.philox import philox4x32, uniform
from counterfoil.machine import Machine
from counterfoil.program.graph import Input, Node, Program, TensorType, Value
from counterfoil.rounding.rounder import Kernels, RecordingRounder, ReplayingRounder
from counterfoil.sentence import say

_PHILOX_COUNTER = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344)
_PHILOX_KEY = (0xA4093822, 0x299F31D0)
_PHILOX_ANSWER = (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)
"""Random123's known-answer vector for Philox4x32-10 with the digits of pi."""
_SHA256_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
"""FIPS 180-4, the example "abc"."""
STATE_ROOT = "15f366d4937168256567a045367094cbca273c068af18ff556a78333d5c0f8a4"
"""State root after the step of :func:`tiny_program`; changes only with the numerics, and then with the format."""
FINGERPRINT = 0x9A9E58DBB61F8B4D
"""Exclusive or of its fingerprints."""


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

    def draw(shape: tuple[int, ...], number: int) -> torch.Tensor:
        return uniform(shape, seed=1, step=1, draw=number, dtype=torch.float32, device="cpu") - 0.5

    return StepInputs({"w": draw((24, 24), 12), "x": draw((16, 24), 13)}, {}, {}, Draws(1, 1))


def run_selftest(machine: Machine) -> str:
    """Test hashing, randomness, rounding and execution on a device; returns what was found, as a sentence.

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
    program, precision = tiny_program(), Precision()
    kernels = Kernels(torch_device, 1)
    try:
        recording = RecordingRounder(program, precision, kernels)
        recording.begin_step(1)
        interpreter = Interpreter(program, torch_device)
        recorded = interpreter.run(tiny_inputs(), rounder=recording)
        replaying = ReplayingRounder(program, precision, kernels)
        replaying.follow(1, recording.logs)
        replayed = interpreter.run(tiny_inputs(), rounder=replaying)
    finally:
        kernels.close()
    root = state_root({name: tensor.cpu().numpy() for name, tensor in recorded.state.items()})
    total = int(np.bitwise_xor.reduce(recording.fingerprints))
    if root.hex != STATE_ROOT or total != FINGERPRINT:
        raise _failed(say("a rounded training step"), f"{root.hex} {total:#x}")
    if any(not torch.equal(recorded.state[name], replayed.state[name]) for name in recorded.state):
        raise _failed(say("the replay of a training step"))
    return say("Known answers for SHA-256, Philox and a rounded training step came out right on {0}.", torch_device)


def _failed(what: str, detail: str = "") -> DeviceError:
    return DeviceError(
        say("This machine computes {0} wrongly, so nothing can be concluded from a replay on it.", what),
        remedy=say("Use another machine; if this one is sound, report the versions of torch and numpy."),
        detail=detail,
    )
