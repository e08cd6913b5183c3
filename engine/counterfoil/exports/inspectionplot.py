"""A plan of inspections as a picture: chips to look at in a year, what stretching a run gains (SVG 1.1).

The left plot has the numbers of the paper's table 1, the right one lines through its figure 2, where the plan is the
paper's (arXiv 2303.11341). Every label is text and every line has a mark of its own, so that no two are told apart by
colour alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10
from typing import Final

from counterfoil.audit.values.inspections import Inspections, stretched

WIDTH: Final = 980
HEIGHT: Final = 460
_TOP, _BOTTOM = 46, 396
_LEFTS = 86, 600
_WIDE = 290
_COLOURS = "#0969da", "#cf222e", "#1a7f37", "#8250df", "#9a6700", "#57606a"
_LARGEST: Final = 100
"""The largest factor k of the right plot, as in the paper's figure 2."""
Point = tuple[float, float]


def inspection_plot(plan: Inspections) -> str:
    """Return the plan as an SVG document.

    Args:
        plan: As :func:`~counterfoil.audit.values.inspections.plan_inspections` returns it.
    """
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        *_samples(plan),
        *_stretching(plan),
        "</svg>",
        "",
    ]
    return "\n".join(lines)


def _samples(plan: Inspections) -> list[str]:
    """Chips to look at in a year by the chips that there are, both on logarithmic axes."""
    curves = [
        (
            row.name or f"{row.operations:.3g}",
            [(log10(cell.chips), log10(cell.a_year)) for cell in row.cells if cell.a_year],
        )
        for row in plan.rows
    ]
    points = [point for _, curve in curves for point in curve]
    if not points:
        return [_text(_LEFTS[0] + _WIDE / 2, 200, "no run of these fits on these chips", "middle")]
    x = _Axis([x for x, _ in points])
    y = _Axis([0.0, *(y for _, y in points)])
    lines = _frame(_LEFTS[0], "chips to look at in a year", "chips that there are")
    for mark in x.marks():
        lines += _upright(_LEFTS[0] + _WIDE * x(mark), _power(mark))
    for mark in y.marks():
        lines += _level(_LEFTS[0], _height(y(mark)), _power(mark))
    for number, (name, curve) in enumerate(curves):
        if curve:
            placed = [(_LEFTS[0] + _WIDE * x(a), _height(y(b))) for a, b in sorted(curve)]
            lines += _curve(number, placed, name)
    return lines


def _stretching(plan: Inspections) -> list[str]:
    """p_d(k) by p, for k on a logarithmic axis."""
    confidence = plan.request.confidence
    factors = [10 ** (step / 20) for step in range(20 * round(log10(_LARGEST)) + 1)]
    drawn = {
        curve.share: [stretched(curve.share, confidence, factor).ratio for factor in factors] for curve in plan.curves
    }
    least = floor(20 * min(map(min, drawn.values()))) / 20
    x, y = _Axis([0.0, log10(_LARGEST)]), _Axis([least, 1.0])
    lines = _frame(_LEFTS[1], f"p_d(k) / p, for p = {confidence:g}", "k: so many times as long, on a k-th of the chips")
    for mark in (1, 2, 5, 10, 20, 50, 100):
        lines += _upright(_LEFTS[1] + _WIDE * x(log10(mark)), f"{mark}")
    for tick in range(6):
        value = least + (1 - least) * tick / 5
        lines += _level(_LEFTS[1], _height(y(value)), f"{value:.3f}")
    for number, (share, ratios) in enumerate(drawn.items()):
        placed = [
            (_LEFTS[1] + _WIDE * x(log10(factor)), _height(y(ratio)))
            for factor, ratio in zip(factors, ratios, strict=True)
        ]
        lines += _curve(number, placed, f"b = {share:g}", marked=False)
    return lines


class _Axis:
    """Places on an axis: 0 for the least of some values, 1 for the largest."""

    def __init__(self, values: Sequence[float]) -> None:
        self.low, self.high = min(values), max(values)

    def __call__(self, value: float) -> float:
        return (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5

    def marks(self) -> range:
        """Powers of ten on a logarithmic axis, at most some twelve of them."""
        low, high = ceil(self.low - 1e-9), floor(self.high + 1e-9)
        return range(low, high + 1, max(1, (high - low) // 12 + 1))


def _height(share: float) -> float:
    return _BOTTOM - (_BOTTOM - _TOP) * share


def _power(mark: int) -> str:
    return f"{10**mark:,}" if 0 <= mark <= 3 else f"1e{mark}"


def _frame(left: float, title: str, below: str) -> list[str]:
    return [
        f'<rect x="{left:.1f}" y="{_TOP}" width="{_WIDE}" height="{_BOTTOM - _TOP}" fill="none" stroke="#8c959f"/>',
        _text(left, _TOP - 18, title, "start"),
        _text(left + _WIDE / 2, _BOTTOM + 42, below, "middle"),
    ]


def _upright(x: float, label: str) -> list[str]:
    return [
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_BOTTOM}" stroke="#d8dee4"/>',
        _text(x, _BOTTOM + 18, label, "middle"),
    ]


def _level(left: float, y: float, label: str) -> list[str]:
    return [
        f'<line x1="{left:.1f}" x2="{left + _WIDE:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="#d8dee4"/>',
        _text(left - 8, y + 4, label, "end"),
    ]


def _curve(number: int, placed: Sequence[Point], name: str, marked: bool = True) -> list[str]:
    colour = _COLOURS[number % len(_COLOURS)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
    lines = [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6"/>']
    for x, y in placed if marked else ():
        lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>')
    x, y = placed[-1]
    return [*lines, _text(x + 8, y + 4, name, "start")]


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#24292f">{escape(text)}</text>'
