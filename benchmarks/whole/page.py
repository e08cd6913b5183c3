"""What whole trainings gave, as a part of the page, with its picture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.campaign.store import Store
from benchmarks.campaign.task import Ended
from benchmarks.pages import markdown, size, write_between
from benchmarks.paper.page import WHOLE
from benchmarks.plots import COLOURS, canvas, save
from benchmarks.whole.jobs import JOBS
from benchmarks.whole.thresholds import MARGINS, PROVEN, STEPS

PICTURE = "images/whole-trainings.png"
Values = Mapping[str, Any]
Results = Mapping[tuple[str, str], Values]
"""The figures of each task that was done, by training and name."""


def write_page(page: Path, store: Store) -> None:
    """Write the part of the page, and its picture beside it.

    Raises:
        DataError: Nothing was measured there, or the page has no such part.
        FileWriteError: It cannot be written.
    """
    done = {key: one.values for key, one in store.results().items() if one.outcome is Ended.DONE}
    text = section(done, store.about["origin"], store.about["text"])
    if names := [name for name in JOBS if (name, "apart") in done]:
        draw({JOBS[name].title: done[name, "apart"]["steps"] for name in names}, page.parent / PICTURE)
        text += f"\n![How far apart the weights of two machines are after each step]({PICTURE})\n"
    write_between(page, WHOLE, text)


def section(done: Results, origin: str, text: str) -> str:
    """Return the part of the page as Markdown.

    Args:
        done: What was measured.
        origin: Where, with which versions, and when.
        text: What the language model learned.
    """
    names = [name for name in JOBS if any(key[0] == name for key in done)]
    parts = [
        f"{origin} The language model learns {text}; images are made up.",
        markdown(_HEADS, [_run_row(name, done) for name in names if (name, "record") in done]),
        "**Weights of two machines, apart.** Ordinary float32 training, as the order says, on both machines at once:",
        markdown(_APART_HEADS, [_apart_row(name, done) for name in names if (name, "apart") in done]),
        f"**Margins.** {STEPS} steps, recorded here and replayed on the other machine. A *proven* margin follows from "
        "an error bound of each operator and so adapts to it; 2^(E-m) is the same for all.",
    ]
    for name in names:
        rows = [_margin_row(name, margin, done) for margin in MARGINS if (name, f"audit-{margin}") in done]
        if rows:
            parts.append(f"*{JOBS[name].title}*\n\n{markdown(_MARGIN_HEADS, rows)}")
    return "\n\n".join(parts) + "\n"


_HEADS = (
    "training", "steps", "recorded, s a step", "replayed on SSE4, s a step", "outcome", "steps with equal states",
    "log", "bits per value", "corrections", "contradictions", "omissions", "loss, first and last", "run file",
)  # fmt: skip


def _run_row(name: str, done: Results) -> list[str]:
    recorded = done[name, "record"]
    steps, seconds = recorded["steps"], [row["seconds"] for row in recorded["steps"]]
    audit = done.get((name, "audit"))
    log = sum(row["bytes"] for row in steps)
    losses = f"{steps[0]['loss']:.3f}, {steps[-1]['loss']:.3f}"
    head = [JOBS[name].title, str(len(steps)), f"{_median(seconds):.3g}"]
    if audit is None:
        return [*head, *["not yet"] * 3, size(log), *["-"] * 4, losses, size(recorded["bytes"])]
    rows = audit["steps"]
    counts = [sum(row[what] for row in rows) for what in ("corrections", "contradictions", "omissions")]
    return [
        *head,
        f"{_median([row['seconds'] for row in rows]):.3g}",
        audit["outcome"],
        f"{sum(row['equal'] for row in rows)} of {len(steps)}",
        size(log),
        f"{8 * log / sum(row['values'] for row in rows):.5f}",
        *(f"{count:,}" for count in counts),
        losses,
        size(recorded["bytes"]),
    ]


_APART_HEADS = (
    "training", "distance / length after step 1", "after the last", "weights that differ then", "largest difference",
    "Counterfoil's, after every step",
)  # fmt: skip


def _apart_row(name: str, done: Results) -> list[str]:
    rows = done[name, "apart"]["steps"]
    first, last = rows[0], rows[-1]
    audit = done.get((name, "audit"))
    equal = audit is not None and all(row["equal"] for row in audit["steps"])
    return [
        JOBS[name].title,
        f"{first['relative']:.2g}",
        f"{last['relative']:.2g} (step {last['step']})",
        f"{100 * last['differing'] / last['weights']:.1f} %",
        f"{last['largest']:.2g}",
        "0" if equal else "not yet",
    ]


_MARGIN_HEADS = (
    "margin", "logged", "log", "taken from the log there", "contradictions", "omissions", "equal states", "outcome",
)  # fmt: skip


def _margin_row(name: str, margin: str, done: Results) -> list[str]:
    recorded, audit = done[name, f"record-{margin}"]["steps"], done[name, f"audit-{margin}"]
    rows = audit["steps"]
    return [
        "proven" if margin == PROVEN else f"2^(E-{margin[1:]})",
        f"{sum(row['entries'] for row in recorded):,}",
        size(sum(row["bytes"] for row in recorded)),
        *(f"{sum(row[what] for row in rows):,}" for what in ("corrections", "contradictions", "omissions")),
        f"{sum(row['equal'] for row in rows)} of {len(recorded)}",
        audit["outcome"],
    ]


def _median(numbers: Sequence[float]) -> float:
    return sorted(numbers)[len(numbers) // 2]


def draw(curves: Mapping[str, Sequence[Values]], path: Path) -> None:
    """Draw how far two machines are apart after each step, and that Counterfoil's are not.

    Args:
        curves: The rows of each training, by its title.
        path: The picture.
    """
    import pyqtgraph

    layout = canvas(560 * len(curves), 340)
    for number, (title, rows) in enumerate(curves.items()):
        axes = layout.addPlot(row=0, col=number, title=title)
        steps = [row["step"] for row in rows]
        # A logarithm has no 0: ours is drawn on the floor, below everything that is not 0.
        heights = [math.log10(row["relative"]) for row in rows if row["relative"] > 0]
        floor = math.floor(min(heights, default=-8)) - 1
        axes.addLegend(offset=(-10, -40))
        far = [math.log10(row["relative"]) if row["relative"] > 0 else floor for row in rows]
        axes.plot(steps, far, pen=pyqtgraph.mkPen(COLOURS[1], width=2), name="ordinary float32")
        axes.plot(steps, [floor] * len(steps), pen=pyqtgraph.mkPen(COLOURS[0], width=3), name="Counterfoil: 0")
        ticks = range(floor + 1, math.ceil(max(heights, default=0)) + 1)
        axes.getAxis("left").setTicks([[(floor, "0"), *((tick, f"1e{tick}") for tick in ticks)]])
        axes.setYRange(floor - 0.2, max(heights, default=0) + 0.3)
        axes.setLabel("bottom", "step")
        axes.setLabel("left", "distance of the weights / their length")
        axes.showGrid(x=True, y=True, alpha=0.2)
    save(layout, path)
