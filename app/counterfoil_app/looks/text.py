"""Numbers, sizes and times as text."""

from __future__ import annotations

import math
import re

from PySide6.QtCore import QLocale

from counterfoil_app.looks.language import texts

_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
MOST_OF_QT = 2**63
"""Integers from here on are no integers of Qt's."""
LARGEST_SIZE = 9e18
"""From here on sizes are more than Qt's integers hold."""

_tr = texts("text")


def count(value: int) -> str:
    """An integer with the locale's thousands separators."""
    if abs(value) < MOST_OF_QT:
        return QLocale().toString(value)
    return f"{value:,}".replace(",", QLocale().groupSeparator())


def number(value: float) -> str:
    """A floating-point number with six significant digits; not-a-number and infinities in words."""
    if math.isnan(value):
        return _tr("not a number")
    if math.isinf(value):
        return _tr("infinite") if value > 0 else _tr("minus infinite")
    return digits(f"{value:.6g}")


def digits(number: str) -> str:
    """A number in Python's notation, with the decimal point of the language."""
    return number.replace(".", QLocale().decimalPoint())


def loss(value: float) -> str:
    """A loss with six significant digits, trailing zeros kept so that a column lines up."""
    return digits(f"{value:#.6g}") if math.isfinite(value) else number(value)


def size(value: int) -> str:
    """A number of bytes in binary units."""
    return QLocale().formattedDataSize(value, 1, QLocale.DataSizeFormat.DataSizeIecFormat)


def amount(value: float) -> str:
    """A number of bytes in units of 1000, which may be more than the largest integer of Qt."""
    if value < LARGEST_SIZE:
        return QLocale().formattedDataSize(round(value), 1, QLocale.DataSizeFormat.DataSizeSIFormat)
    return f"{QLocale().toString(value / 1e18, 'f', 1)} EB"


def step(memory: int, operations: int) -> str:
    """What a step takes: bytes, and floating-point operations in units of 10^9."""
    billions = QLocale().toString(operations / 1e9, "g", 3) if operations < 1e12 else count(round(operations / 1e9))
    return _tr("about {0} of memory, {1} billion operations").format(size(memory), billions)


def moment(stamp: str) -> str:
    """A time of a signed file, ``2026-01-31T12:00:00Z``, as people write it; any other text as it is."""
    return f"{stamp[:10]} {stamp[11:19]} UTC" if _STAMP.fullmatch(stamp) else stamp


def duration(seconds: float) -> str:
    """A duration, coarse enough to be read at a glance: ``8 s``, ``3 min 20 s``, ``2 h 05 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def rate(steps_per_second: float) -> str:
    """A speed: steps per second, or seconds per step when that is easier to read."""
    if steps_per_second >= 1:
        return _tr("{0} steps/s").format(QLocale().toString(steps_per_second, "f", 1))
    return _tr("{0} s/step").format(QLocale().toString(1 / steps_per_second, "f", 1))


def shape(dimensions: tuple[int, ...]) -> str:
    """A tensor shape, for instance ``16 x 8 x 3 x 3``; ``scalar`` when it has no dimension."""
    return " \u00d7 ".join(str(n) for n in dimensions) if dimensions else _tr("scalar")


def index(position: tuple[int, ...]) -> str:
    """A multi-index, for instance ``[0, 3]``."""
    return "[" + ", ".join(str(n) for n in position) + "]"


def hexadecimal(value: float) -> str:
    """A floating-point number exactly, in C's hexadecimal notation without trailing zeros; nan and inf as they are."""
    digits, exponent, power = float(value).hex().partition("p")
    return f"{digits.rstrip('0').rstrip('.') if '.' in digits else digits}{exponent}{power}"


def exact(value: float) -> str:
    """A float32 value in the fewest digits (at most nine significant ones) that name it and no other."""
    if not math.isfinite(value):
        return number(value)
    tried = ((places, f"{value:.{places}g}") for places in range(1, 10))
    return digits(next(text for places, text in tried if float(text) == value or places == 9))


def leaves(first: int, last: int) -> str:
    """The Merkle leaves of a run from ``first`` to ``last`` in words: leaf 0 is the initial state, leaf k is step k."""
    if last == 0:
        return _tr("initial state")
    if first == last:
        return _tr("step {0}").format(count(first))
    if first == 0:
        return _tr("up to step {0}").format(count(last))
    return _tr("steps {0} to {1}").format(count(first), count(last))
