"""The measured table of docs/literature.md: the trainings of the literature, replayed with other instructions."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.cross_hardware.page import Found
from benchmarks.cross_hardware.results import Part, Replayed
from benchmarks.literature_jobs import LITERATURE
from benchmarks.pages import markdown

NATIVE, FEWER = "torch-2.13", ("torch-2.13-avx2", "torch-2.13-sse4")
"""The machine of packaging/torches.sh as it is, and the same with fewer instructions."""


def section(parts: Sequence[Part]) -> str:
    """Return the table as Markdown, with a sentence on what its cells say."""
    found = Found.of(parts)
    pairs = [pair for other in FEWER for pair in ((NATIVE, other), (other, NATIVE))]
    heads = [f"recorded on {first}, replayed on {second}" for first, second in pairs]
    rows = []
    for job in LITERATURE:
        honest = [one for one in found.replayed if one.job == job and not one.tampered]
        cells = [cell([one for one in honest if (one.recorder, one.machine) == pair]) for pair in pairs]
        states = {one.state_root for one in found.trained if one.job == job}
        rows.append([job, *cells, cell(honest), str(len(states)) if states else "-"])
    about = next((machine.environment.get("cpu_capability", "?") for machine in found.machines), "?")
    table = markdown(["training", *heads, "all pairs", "states of ordinary float32"], rows)
    return f"The machine as it is has {about}; {len(found.machines)} machines in all.\n\n{table}"


def cell(replays: Sequence[Replayed]) -> str:
    """Return how many replays ended as they should, and the directions that they took from logs."""
    if not replays:
        return "-"
    good, taken = sum(one.as_expected for one in replays), sum(one.corrections for one in replays)
    return f"{good} of {len(replays)}" + (f" ({taken})" if taken else "")
