"""``python -m benchmarks recording``: what keeping every finished step on the disk costs, as a share of recording."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.pages import markdown
from benchmarks.sessions import recorded_steps
from counterfoil.training.order import OrderDraft
from counterfoil.training.recipes.digits import order_digits
from counterfoil.training.recipes.gpt2 import Gpt2Size, order_gpt2
from counterfoil.training.recipes.logistic import order_logistic, synthetic_table
from counterfoil.training.recording import Recording
from counterfoil_resources.digits import load_digits


def orders() -> dict[str, OrderDraft]:
    """A tiny, a small and a larger step, each with a state stored every tenth step."""
    table = synthetic_table(256, 8, 0)
    text = bytes(range(32, 127)) * 200
    return {
        "logistic regression, 9 weights": order_logistic(
            table.features, table.labels, steps=2000, batch_size=16, checkpoint_every=10
        ),
        "digits, 16 channels": order_digits(*load_digits(), steps=100, batch_size=32, width=16, checkpoint_every=10),
        "GPT-2, 4 layers of width 128": order_gpt2(text, size=Gpt2Size(), batch_size=4, steps=20, checkpoint_every=10),
    }


def measure(folder: Path, draft: OrderDraft) -> tuple[float, float, int]:
    """Record an order; returns seconds of a step, the share of keeping, and the bytes kept for each step."""
    spent = 0.0

    def timed(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            nonlocal spent
            begun = time.perf_counter()
            try:
                return method(*arguments)
            finally:
                spent += time.perf_counter() - begun

        return call

    kept = (Recording.append, Recording.store_state)
    Recording.append, Recording.store_state = timed(kept[0]), timed(kept[1])  # type: ignore[method-assign]
    try:
        events = list(recorded_steps(folder, draft))
    finally:
        Recording.append, Recording.store_state = kept  # type: ignore[method-assign]
    seconds = sum(event.seconds for event in events)
    return seconds / len(events), spent / seconds, (folder / "run.cfoil").stat().st_size // len(events)


def main(arguments: Sequence[str]) -> None:
    """Record each and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks recording", description=__doc__)
    parser.add_argument("folder", type=Path, help="an empty one on the disk to measure")
    target = parser.parse_args(arguments).folder
    found = {name: measure(target, draft) for name, draft in orders().items()}
    rows = [
        [name, f"{1000 * seconds:.1f} ms", f"{100 * share:.2f} %", f"{size / 1000:.1f} kB"]
        for name, (seconds, share, size) in found.items()
    ]
    print(markdown(["", "a step", "of it to keep it", "kept for a step"], rows))
