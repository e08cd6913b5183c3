"""PTX text, decoded into blocks of instructions (PTX ISA 9.0, sections 4 "Syntax" and 5 "State spaces and types")."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

TYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(kind)
    for name, kind in {
        "b8": np.uint8, "u8": np.uint8, "s8": np.int8, "b16": np.uint16, "u16": np.uint16, "s16": np.int16,
        "b32": np.uint32, "u32": np.uint32, "s32": np.int32, "f32": np.float32, "b64": np.uint64, "u64": np.uint64,
        "s64": np.int64, "f64": np.float64, "pred": np.bool_,
    }.items()
}  # fmt: skip
"""Fundamental types, section 5.2.1."""
UNSIGNED: dict[int, np.dtype[Any]] = {1: TYPES["u8"], 2: TYPES["u16"], 4: TYPES["u32"], 8: TYPES["u64"]}
"""Bits of so many bytes."""
INEXACT = frozenset({"approx", "full", "ftz", "sat", "relu"})
"""Modifiers of floating-point arithmetic, section 9.7.3, that give up what IEEE 754 says: none is executed."""


class Fault(Exception):  # noqa: N818
    """What a program does that it should not."""


@dataclass(frozen=True, slots=True)
class Register:
    """A register variable, section 5.1.1."""

    name: str
    kind: np.dtype[Any]
    """What it holds: bits of its width, or a predicate."""


@dataclass(frozen=True, slots=True)
class Special:
    """A special register, section 10, or the address of shared memory."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A number in the text, section 4.5."""

    bits: int
    width: int
    """Bytes of a floating-point constant; 0 for an integer, which is as wide as it is read."""
    values: dict[str, Array] = field(default_factory=dict, compare=False)

    def value(self, kind: np.dtype[Any]) -> Array:
        """Return it as a type, ``[]``."""
        found = self.values.get(kind.str)
        if found is None:
            if kind == np.bool_:
                found = np.array(bool(self.bits))
            else:
                width = self.width or kind.itemsize
                if width != kind.itemsize:
                    raise Fault(f"a constant of {width} bytes as {kind}")
                found = np.array(self.bits & ((1 << 8 * width) - 1), UNSIGNED[width]).view(kind)
            self.values[kind.str] = found
        return found


@dataclass(frozen=True, slots=True)
class Symbol:
    """A parameter or a label."""

    name: str


@dataclass(frozen=True, slots=True)
class Vector:
    """Several operands: ``{a, b}``, or the two results of ``a|b``."""

    parts: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Address:
    """``[base + offset]``, section 6.4.1."""

    base: Register | Special | Symbol | None
    offset: int


Operand = Register | Special | Constant | Symbol | Vector | Address


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction."""

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Any, ...]
    guard: Register | None
    negated: bool
    text: str

    @property
    def type(self) -> str:
        """The last modifier: the type of the operands."""
        return self.modifiers[-1]

    def only(self, *allowed: str) -> None:
        """Refuse modifiers before the type but these."""
        if strange := set(self.modifiers[:-1]) - set(allowed):
            raise Fault(f"modifier {min(strange)} is not executed")


class Program:
    """The entry of a module of PTX text.

    Raises:
        Fault: Something in it is not read here, or asks for arithmetic that is not IEEE 754's.
    """

    def __init__(self, text: str) -> None:
        # Assembly of Triton's own declares its registers in a scope: they are the program's here.
        text = re.sub(r"// begin inline asm\n\s*\{[^\n]*\n(.*?)\n\}.*?// end inline asm", r"\1", text, flags=re.S)
        text = re.sub(r"//[^\n]*", "", text)
        entry = re.search(r"\.entry\s+(\w+)\s*\((.*?)\)(.*)", text, re.S)
        if entry is None:
            raise Fault("there is no entry")
        self.name = entry[1]
        self.parameters: list[tuple[str, str]] = re.findall(r"\.param\s+\.(\w+)[^,]*?(\w+)\s*(?:,|$)", entry[2].strip())
        """Types and names."""
        body = re.split(r"\n\}", entry[3][entry[3].index("{") + 1 :], maxsplit=1)[0]
        self._kinds: dict[str, np.dtype[Any]] = {}
        self._registers: dict[str, Register] = {}
        lines = [line for line in map(str.strip, body.split("\n")) if line and not self._declares(line)]
        self.blocks: list[list[Instruction]] = [[]]
        self.labels: dict[str, int] = {}
        self._decode("\n".join(lines))

    @property
    def length(self) -> int:
        """Instructions."""
        return sum(map(len, self.blocks))

    def _declares(self, line: str) -> bool:
        if found := re.match(r"\.reg\s+\.(\w+)\s+(%?\w+)<\d+>", line):
            kind = TYPES[found[1]]
            self._kinds[found[2]] = kind if found[1] == "pred" else UNSIGNED[kind.itemsize]
        elif line.startswith(".shared"):
            raise Fault(f"shared memory of a size of its own: {line}")
        # Local memory may be declared; what reaches for it is not read.
        return line.startswith(".")

    def _decode(self, text: str) -> None:
        targets = set(re.findall(r"\bbra(?:\.uni)?\s+(\$\w+)", text))
        for part in re.split(r";|(\$\w+:)", text):
            token = " ".join((part or "").split())
            if token.endswith(":"):
                if token[:-1] in targets:
                    self.blocks.append([])
                    self.labels[token[:-1]] = len(self.blocks) - 1
            elif token:
                instruction = self._instruction(token)
                self.blocks[-1].append(instruction)
                if instruction.opcode in ("bra", "ret"):
                    self.blocks.append([])

    def _instruction(self, text: str) -> Instruction:
        found = re.fullmatch(r"(?:@(!?)(%\w+) )?([\w.:]+)(?: (.*))?", text)
        if found is None:
            raise Fault(f"not read: {text}")
        opcode, *modifiers = found[3].split(".")
        if strange := INEXACT.intersection(modifiers):
            raise Fault(f"inexact arithmetic, {min(strange)}: {text}")
        operands = tuple(self._operand(part) for part in _split(found[4] or ""))
        guard = self._register(found[2]) if found[2] else None
        return Instruction(opcode, tuple(modifiers), operands, guard, bool(found[1]), text)

    def _register(self, name: str) -> Register:
        if name not in self._registers:
            kind = self._kinds.get(re.sub(r"\d+$", "", name))
            if kind is None:
                raise Fault(f"register {name} is not declared")
            self._registers[name] = Register(name, kind)
        return self._registers[name]

    def _operand(self, text: str) -> Operand:
        if text.startswith("{"):
            return Vector(tuple(self._operand(part) for part in _split(text.strip("{} "))))
        if "|" in text:
            return Vector(tuple(self._operand(part.strip()) for part in text.split("|")))
        if text.startswith("["):
            found = re.fullmatch(r"\[\s*([%\w]+)\s*(?:\+\s*(-?\w+))?\s*\]", text)
            if found is None:
                raise Fault(f"not read: {text}")
            base = self._operand(found[1])
            if isinstance(base, Constant):
                return Address(None, base.bits + int(found[2] or "0", 0))
            assert isinstance(base, Register | Special | Symbol)
            return Address(base, int(found[2] or "0", 0))
        if text == "global_smem" or re.fullmatch(r"%(n?tid|n?ctaid)\.[xyz]|%laneid|%warpid", text):
            return Special(text)
        if text.startswith("%") or re.sub(r"\d+$", "", text) in self._kinds:
            return self._register(text)
        if re.match(r"0[dDfF][0-9a-fA-F]+$", text):
            return Constant(int(text[2:], 16), 8 if text[1] in "dD" else 4)
        if re.match(r"-?\d", text):
            return Constant(int(text.rstrip("U"), 0), 0)
        return Symbol(text)


def _split(text: str) -> list[str]:
    """Split operands at the commas outside of brackets."""
    parts = re.findall(r"(?:[^,{\[]|\{[^}]*\}|\[[^\]]*\])+", text)
    return [part.strip() for part in parts if part.strip()]
