"""The progress of a long job: a bar on a terminal, a few lines elsewhere."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from counterfoil.cli import terminal


def shown(out: Console) -> str:
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


@pytest.mark.parametrize("on_terminal", [True, False])
def test_before_during_and_after_an_interruption(on_terminal: bool) -> None:
    out = Console(file=io.StringIO(), force_terminal=on_terminal, width=120)
    with terminal.progress("Replay", out) as bar:
        bar.update(0, "Hashing the file: 5 %.")
        bar.start(20)
        bar.go_on_from(10)
        for step in range(11, 21):
            bar.update(step, "match")
    text = shown(out)
    assert "20" in text
    if on_terminal:
        assert "Hashing the file: 5 %." in text
        assert "20/20" in text
    else:
        lines = text.splitlines()
        assert "Replay: step 20 of 20, match" in lines
        assert all("Hashing" not in line for line in lines), "a line for each percent would be many"
        assert not any(f"step {step} of" in text for step in range(1, 11))


def test_what_was_done_before_says_nothing_of_the_time_left() -> None:
    """1,000 steps at once, then one a second: the rest takes 99 seconds, and not a tenth of one."""
    now = 0.0
    out = Console(file=io.StringIO(), force_terminal=True, width=120, get_time=lambda: now)
    with terminal.progress("Replay", out) as bar:
        bar.start(1_100)
        bar.update(0)
        bar.go_on_from(1_000)
        for step in range(1, 4):
            now += 1.0
            bar.update(1_000 + step, "match")
    assert "1.00 steps/s" in shown(out)
