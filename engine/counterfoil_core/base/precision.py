"""Precision profiles: how a step is computed, and what its results are rounded to (docs/numerics.md).

There are two kinds. Under :class:`Precision` operators compute in a wide dtype and round to a grid, and a log says
which way close decisions went. Under :class:`ExactPrecision` every result is defined by mathematics: there is no log.
ADR 14 says which is the default, and for what.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeGuard

from counterfoil_core.base.errors import BundleError
from counterfoil_core.base.fields import Fields
from counterfoil_core.base.plaintext import quote
from counterfoil_core.base.sentence import say

_WHAT = "precision"


@dataclass(frozen=True)
class _Limits:
    """What a compute dtype leaves room for: lowest and highest p, highest G, highest m."""

    significand_bits: tuple[int, int]
    guard_bits: int
    margin_bits: int


_LIMITS = {"float64": _Limits((18, 24), 12, 50), "float32": _Limits((8, 8), 11, 21)}
EXACT_BITS = 8, 24
"""Lowest and highest S of an exact profile."""


@dataclass(frozen=True)
class Precision:
    """The precision profile of an order (docs/numerics.md).

    Raises:
        BundleError: The numbers do not fit together.
    """

    compute: str = "float64"  #: Dtype in which operators compute, ``float64`` or ``float32``.
    significand_bits: int = 24  #: p, the significand bits of the grid; 24 is float32's, 8 bfloat16's.
    guard_bits: int = 8  #: G; an element's quantum never falls below ``2^(E - G - p + 1)``.
    margin_bits: int = 44  #: m; a value is logged when it lies within ``2^(E - m)`` of a midpoint.
    margins: tuple[tuple[str, int], ...] = ()  #: m of single operator kinds, where it differs from ``margin_bits``.
    #: Whether the m of a rounding site is made smaller where the a-priori error bound of its operator asks for that
    #: (:mod:`counterfoil_core.arithmetic.grid.margin`); then ``margins`` is empty.
    proven: bool = True

    def __post_init__(self) -> None:
        limits = _LIMITS.get(self.compute)
        if limits is None:
            raise BundleError(
                say("The compute dtype {0} is not supported; float64 and float32 are.", quote(self.compute))
            )
        low, high = limits.significand_bits
        if not low <= self.significand_bits <= high:
            supported = say("{0} to {1} are", low, high) if low < high else say("{0} are", low)
            raise BundleError(
                say(
                    "{0} significand bits are not supported with {1}; {2}.",
                    self.significand_bits,
                    self.compute,
                    supported,
                )
            )
        if not 0 <= self.guard_bits <= limits.guard_bits:
            raise BundleError(
                say(
                    "{0} guard bits are not supported with {1}; 0 to {2} are.",
                    self.guard_bits,
                    self.compute,
                    limits.guard_bits,
                )
            )
        least, most = self.margin_range
        for name, bits in ((say("the default"), self.margin_bits), *self.margins):
            if not least <= bits <= most:
                raise BundleError(
                    say("The margin of {0} is 2^(E-{1}); its exponent must lie in {2} to {3}.", name, bits, least, most)
                )
        if self.proven and self.margins:
            raise BundleError(say("Proven margins follow from the program; none may be set for single operators."))

    @property
    def margin_range(self) -> tuple[int, int]:
        """Lowest and highest m: tau is at most an eighth of a quantum, and above the compute dtype's own rounding."""
        return self.significand_bits + self.guard_bits + 2, _LIMITS[self.compute].margin_bits

    def margin_of(self, kind: str) -> int:
        """Return m for an operator kind, for instance ``mm``."""
        return dict(self.margins).get(kind, self.margin_bits)

    def describe(self) -> str:
        """The profile in words."""
        grid = say("{0} -> {1} significand bits, {2} guard bits", self.compute, self.significand_bits, self.guard_bits)
        if self.proven:
            return say("{0}, proven margins", grid)
        if not self.margins:
            return say("{0}, margin 2^(E-{1})", grid, self.margin_bits)
        kinds = len(self.margins)
        return say("{0}, margin 2^(E-{1}), {2} operator kinds calibrated", grid, self.margin_bits, kinds)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "compute": self.compute,
            "significand_bits": self.significand_bits,
            "guard_bits": self.guard_bits,
            "margin_bits": self.margin_bits,
            "margins": dict(self.margins),
            "proven": self.proven,
        }

    @classmethod
    def from_json(cls, value: Any) -> Precision:
        """Read the JSON form; raises BundleError."""
        fields = Fields(value, _WHAT, BundleError)
        margins = fields.take("margins", dict)
        for bits in margins.values():
            if not isinstance(bits, int) or isinstance(bits, bool):
                raise BundleError(say("A margin of the precision is not an integer."))
        result = cls(
            compute=fields.take("compute", str),
            significand_bits=fields.integer("significand_bits", 0, 64),
            guard_bits=fields.integer("guard_bits", 0, 64),
            margin_bits=fields.integer("margin_bits", 0, 64),
            margins=tuple(sorted(margins.items())),
            proven=fields.take("proven", bool),
        )
        fields.end()
        return result


@dataclass(frozen=True)
class ExactPrecision:
    """An exact profile: float32 values, and every result defined by mathematics (docs/numerics.md, "Exact profiles").

    Raises:
        BundleError: There is no such profile.
    """

    bits: int  #: S, the bits that an operand of a product keeps; 13 and 20 are whole digits of int8 products.
    #: Whether a row's result does not depend on other rows: the program has the operators for it, which scale operands
    #: of products by rows (docs/numerics.md, "Exact by rows").
    rows: bool = False

    compute: ClassVar[str] = "float32"

    def __post_init__(self) -> None:
        low, high = EXACT_BITS
        if not low <= self.bits <= high:
            raise BundleError(
                say("Exact operands of {0} bits are not supported; {1} to {2} are.", self.bits, low, high)
            )

    def describe(self) -> str:
        """The profile in words."""
        if self.rows:
            return say("exact by rows, operands of products of {0} bits", self.bits)
        return say("exact, operands of products of {0} bits", self.bits)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"exact_bits": self.bits, **({"rows": True} if self.rows else {})}

    @classmethod
    def from_json(cls, value: Any) -> ExactPrecision:
        """Read the JSON form; raises BundleError."""
        fields = Fields(value, _WHAT, BundleError)
        bits, rows = fields.integer("exact_bits", 0, 64), fields.has("rows")
        if rows and not fields.take("rows", bool):
            raise BundleError(say("The field 'rows' of the precision is there and not true."))
        fields.end()
        return cls(bits, rows)


AnyPrecision = Precision | ExactPrecision


def is_exact(precision: AnyPrecision | None) -> bool:
    """Whether a profile is exact; None stands for the default of a job, which rounds."""
    return isinstance(precision, ExactPrecision)


def exact_profile(precision: AnyPrecision | None) -> ExactPrecision | None:
    """Return a profile where it is exact; None for one that rounds, and for None."""
    return precision if isinstance(precision, ExactPrecision) else None


def is_by_rows(precision: AnyPrecision | None) -> TypeGuard[ExactPrecision]:
    """Whether a row's result under a profile hangs on no other row."""
    return isinstance(precision, ExactPrecision) and precision.rows


def exact_bits(precision: AnyPrecision) -> int | None:
    """Return S of an exact profile; None for a profile that rounds."""
    return precision.bits if isinstance(precision, ExactPrecision) else None


def precision_from_json(value: Any) -> AnyPrecision:
    """Read the JSON form of a profile of either kind; raises BundleError."""
    return ExactPrecision.from_json(value) if "exact_bits" in value else Precision.from_json(value)


HEADROOM_BITS = 6
"""A calibrated margin is 2^6 times the largest difference that was seen, for the hardware that was not."""
PROFILES: dict[str, AnyPrecision] = {
    **{f"float64-{p}": Precision(significand_bits=p) for p in range(24, 17, -1)},
    "float32-bfloat16": Precision("float32", significand_bits=8, guard_bits=4, margin_bits=16, proven=False),
    **{
        f"exact-{bits}{suffix}": ExactPrecision(bits, rows)
        for suffix, rows in (("", False), ("-rows", True))
        for bits in range(EXACT_BITS[1], EXACT_BITS[0] - 1, -1)
    },
}
"""The precision profiles that an order can name; docs/numerics.md says how their numbers were chosen."""


def profile_name(precision: AnyPrecision | None) -> str:
    """Return the name of a precision profile; empty for none, and for one that has no name."""
    return next((name for name, profile in PROFILES.items() if profile == precision), "")
