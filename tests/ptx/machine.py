"""Executes a decoded program: the threads of some blocks are the lanes of numpy arrays, and go in step.

Where threads part, those whose next block of instructions stands first in the text go on until the others are reached
(PTX ISA 9.0, section 3 "Programming model"). A mask, bool ``[lanes]``, says who executes an instruction; None is
everybody. A value that all threads share has no dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from .memory import Shared, Storages
from .program import TYPES, UNSIGNED, Address, Array, Constant, Fault, Instruction, Program, Register, Special, Symbol

LIMIT = 3_000_000
"""Instructions of one run: a program that needs more does not end."""
JUNK = 0xA5A5DEAD5A5ABEEF
"""What is in a register that a thread has not written, beside threads that have."""
Mask = Array | None
Execution = Callable[["Machine", Instruction, Mask], None]
INSTRUCTIONS: dict[str, Execution] = {}
"""What opcodes do; :mod:`ptx.instructions` and :mod:`ptx.tensorcores` fill it."""


def instruction(*opcodes: str) -> Callable[[Execution], Execution]:
    """Say what opcodes do."""

    def known(function: Execution) -> Execution:
        INSTRUCTIONS.update(dict.fromkeys(opcodes, function))
        return function

    return known


@dataclass(frozen=True)
class Launch:
    """A launch of a kernel."""

    grid: tuple[int, int, int]
    threads: int
    """Of a block."""
    parameters: Mapping[str, int]
    """Bits of the entry's parameters, by their names."""
    shared: int = 0
    """Bytes of shared memory of a block."""


class Machine:
    """Some blocks of a launch.

    Args:
        program: What they execute.
        launch: Of which launch.
        storages: The memory of the device.
        blocks: int64 ``[n]``: their numbers, in the order in which they come when several reach for one place.
        rng: Shuffles atomic operations of one instruction; None to take them in this order.
    """

    def __init__(
        self,
        program: Program,
        launch: Launch,
        storages: Storages,
        blocks: Array,
        rng: np.random.Generator | None = None,
    ) -> None:
        self.program, self.launch, self.storages, self.rng = program, launch, storages, rng
        threads = launch.threads
        self.lanes = len(blocks) * threads
        numbers = np.arange(self.lanes)
        self.block, self.thread = numbers // threads, numbers % threads
        self.warp = self.thread // 32
        self.shared = Shared(len(blocks), launch.shared, -(-threads // 32))
        self._base = self.block * self.shared.size
        self.registers: dict[str, Array] = {}
        self.group = np.zeros(self.lanes, np.int64)
        """Of asynchronous copies, the groups that each thread has closed."""
        self.copies: list[tuple[Array, Array, Array, Array]] = []
        """Those under way: threads, their groups, places in shared memory, bytes."""
        self.executed = 0
        x, y, _ = launch.grid
        number = np.repeat(blocks, threads)
        corners = {"x": number % x, "y": number // x % y, "z": number // (x * y)}
        zero = np.zeros((), np.int64)
        self._special: dict[str, Array] = {
            "global_smem": zero, "%laneid": self.thread % 32, "%warpid": self.warp, "%tid.x": self.thread,
            "%tid.y": zero, "%tid.z": zero, "%ntid.x": zero + threads, "%ntid.y": zero + 1, "%ntid.z": zero + 1,
            **{f"%ctaid.{axis}": corner for axis, corner in corners.items()},
            **{f"%nctaid.{axis}": zero + length for axis, length in zip("xyz", launch.grid, strict=True)},
        }  # fmt: skip

    # Registers.

    def read(self, operand: object, kind: str) -> Array:
        """Return the value of an operand as a type: ``[lanes]``, or ``[]``."""
        dtype = TYPES[kind]
        if type(operand) is Register:
            value = self.registers.get(operand.name)
            if value is None:
                raise Fault(f"{operand.name} is read, and nothing has written it")
            if value.dtype == dtype:
                return value
            size = dtype.itemsize
            if operand.kind.itemsize == size:
                return value.view(dtype)
            if operand.kind.itemsize > size:
                return value.astype(UNSIGNED[size]).view(dtype)
            raise Fault(f"{operand.name} is narrower than {kind}")
        if type(operand) is Constant:
            return operand.value(dtype)
        if type(operand) is Special:
            return self._special[operand.name].astype(dtype)
        raise Fault(f"{operand} is no value")

    def every(self, operand: object, kind: str) -> Array:
        """Return the value of an operand in each lane, ``[lanes]``, contiguous."""
        return self.spread(self.read(operand, kind))

    def spread(self, value: Array) -> Array:
        """Return a value that all lanes share, or that each has, for each: ``[lanes]``, contiguous."""
        return np.ascontiguousarray(value) if value.ndim else np.full(self.lanes, value)

    def write(self, register: object, value: Array, mask: Mask) -> None:
        """Give a register a value, extended by its own sign or cut where the register is not as wide."""
        if not isinstance(register, Register):
            if isinstance(register, Symbol) and register.name == "_":
                return
            raise Fault(f"{register} is no register")
        kind = register.kind
        value = np.asarray(value)
        if kind != np.bool_:
            size = value.itemsize
            if size != kind.itemsize:
                signed = value.dtype.kind == "i"
                value = value.astype(np.dtype(f"i{kind.itemsize}") if signed else kind)
            value = value.view(kind)
        if mask is not None:
            old = self.registers.get(register.name)
            if old is None:
                old = np.array(False) if kind == np.bool_ else np.array(JUNK & ((1 << 8 * kind.itemsize) - 1), kind)
            value = np.where(mask, value, old)
        self.registers[register.name] = value

    def address(self, operand: object, kind: str = "u64") -> Array:
        """Return addresses, int64 ``[lanes]`` or ``[]``."""
        if not isinstance(operand, Address):
            raise Fault(f"{operand} is no address")
        if operand.base is None:
            return np.array(operand.offset)
        return self.read(operand.base, kind).astype(np.int64) + operand.offset

    def active(self, mask: Mask) -> Array:
        """Return the numbers of the lanes of a mask."""
        return np.arange(self.lanes) if mask is None else np.flatnonzero(mask)

    def places(self, operand: object, width: int, lanes: Array) -> Array:
        """Return where in the shared memory of all blocks some lanes' accesses of ``width`` bytes lie."""
        addresses = self.spread(self.address(operand, "u32"))[lanes]
        self.shared.check(addresses, width)
        return addresses + self._base[lanes]

    def whole_warps(self, mask: Mask) -> None:
        """Refuse an instruction of whole warps whose lanes are not all there (section 9.7.9, ``.sync``)."""
        if mask is not None:
            count = mask.reshape(-1, 32).sum(1)
            if ((count != 0) & (count != 32)).any():
                raise Fault("lanes of a warp are missing at an instruction of the whole warp")

    # Control.

    def run(self) -> None:
        """Execute until every thread has returned.

        Raises:
            Fault: The program does what it should not.
        """
        with np.errstate(all="ignore"):
            self._run()

    def _run(self) -> None:
        together, places = 0, np.zeros(0, np.int64)
        # ``together``: where all threads are; -1 where they are at several places, -2 when all have returned.
        while True:
            if together >= 0:
                here, mask = together, None
            else:
                here = int(places[places >= 0].min())
                mask = places == here
            jump = self._block(here, mask)
            if mask is None and jump.ndim == 0:
                together = int(jump)
                if together < 0:
                    return
                continue
            if mask is None:
                places = np.array(jump)
            else:
                places[mask] = self.spread(jump)[mask]
            first = int(places[0])
            together = first if (places == first).all() else -1
            if together < 0 and not (places >= 0).any():
                return

    def _block(self, number: int, mask: Mask) -> Array:
        """Execute a block of instructions; return where threads go on, ``[lanes]`` or ``[]``; -1 is nowhere."""
        after = np.array(number + 1)
        for one in self.program.blocks[number]:
            self.executed += 1
            if self.executed > LIMIT:
                raise Fault(f"{self.program.name} does not end")
            try:
                if one.opcode in ("bra", "ret"):
                    to = np.array(-1 if one.opcode == "ret" else self.program.labels[one.operands[0].name])
                    if one.guard is None:
                        return to
                    after = np.where(self._guard(one), to, after)
                    if after.ndim and mask is None and (after == after[0]).all():
                        after = np.array(after[0])
                    continue
                within = mask
                if one.guard is not None:
                    guard = self.spread(self._guard(one))
                    within = guard if mask is None else mask & guard
                    if within.all():
                        within = None
                function = INSTRUCTIONS.get(one.opcode)
                if function is None:
                    raise Fault("opcode is not executed here")
                function(self, one, within)
            except Fault as fault:
                raise Fault(f"{self.program.name}: {fault}: {one.text}") from None
        return after

    def _guard(self, one: Instruction) -> Array:
        value = self.read(one.guard, "pred")
        return ~value if one.negated else value

    def barrier(self, mask: Mask) -> None:
        """All threads of the blocks meet (section 9.7.13.1).

        Raises:
            Fault: Some of a block's threads are elsewhere.
        """
        if mask is None:
            return self.shared.barrier(None)
        there = mask.reshape(-1, self.launch.threads).sum(1)
        if ((there != 0) & (there != self.launch.threads)).any():
            raise Fault("barrier in divergent code")
        return self.shared.barrier(np.flatnonzero(there))
