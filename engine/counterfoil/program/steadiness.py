"""What a step must not hang on: a program does the same in every step, so nothing of one moment may be kept in it.

A capture runs the client's code once. What that code drew from the generators of numpy or Python, read from a clock or
counted itself stands in the program as a number, the same in every step: training that no such code would do. Capturing
a second time, at another moment and under other seeds, shows what differs; a generator of numpy's or Python's that has
moved shows that something was drawn, whether or not it made a difference this time.
"""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import zip_longest
from types import FrameType
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, fx
from torch.fx.node import map_arg

from counterfoil.program import whereabouts
from counterfoil.program.unread import read_nodes
from counterfoil.program.whereabouts import in_brackets
from counterfoil_core.base.errors import ProgramError

_SEED = 0x5EED
"""Seeds the generators before the second capture; any other number than what they held will do."""
_SECONDS = 1_000_003.0
"""How far clocks are put forward in the second capture: eleven days, another weekday, hour, minute and second."""
_CLOCKS = ("time", "monotonic", "perf_counter")
_REMEDY = (
    "Draw within the step by torch, for instance with torch.rand or torch.distributions, or make the draw part of the "
    "data: rows and batches may be drawn with anything."
)


@dataclass(frozen=True)
class Moments:
    """At how many other moments a step is traced, and why."""

    count: int = 1  #: How many.
    reads: str = ""  #: What the step reads that changes from step to step; empty for nothing that is known.
    remedy: str = ""  #: What to do where it matters.


_now: ContextVar[int] = ContextVar("moment", default=0)
_asked: ContextVar[Moments] = ContextVar("moments", default=Moments())  # noqa: B039, it is frozen


def moment() -> int:
    """Return the number of the moment at which a step is traced: 0 for the first."""
    return _now.get()


def ask_for(moments: Moments) -> None:
    """Have the step that is being traced traced at more other moments than one; for what is traced to call."""
    _asked.set(moments)


@contextmanager
def moments_asked() -> Iterator[Callable[[], Moments]]:
    """Within, a step may ask for moments; yields what returns them."""
    token = _asked.set(Moments())
    try:
        yield _asked.get
    finally:
        _asked.reset(token)


@contextmanager
def generators_kept() -> Iterator[None]:
    """Leave the generators of Python, numpy and torch as they were, whatever is drawn within."""
    python, numbers, tensors = random.getstate(), np.random.get_state(), torch.get_rng_state()
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numbers)
        torch.set_rng_state(tensors)


@contextmanager
def at_another_moment(number: int = 1) -> Iterator[None]:
    """Run under other seeds, and with clocks that are eleven days ahead for this thread.

    Args:
        number: Of the moment.
    """
    thread, before = threading.get_ident(), {}

    def ahead(clock: Callable[[], Any], by: Any) -> Callable[[], Any]:
        return lambda: clock() + by if threading.get_ident() == thread else clock()

    for name in _CLOCKS:
        for full, by in ((name, _SECONDS), (f"{name}_ns", int(_SECONDS * 1e9))):
            before[full] = getattr(time, full)
            setattr(time, full, ahead(before[full], by))
    token = _now.set(number)
    try:
        with generators_kept():
            random.seed(_SEED)
            np.random.seed(_SEED)
            torch.manual_seed(_SEED)
            yield
    finally:
        _now.reset(token)
        for name, clock in before.items():
            setattr(time, name, clock)


def positions() -> dict[str, Any]:
    """Return how far the generators of numpy and Python are, by their names in a sentence."""
    kind, words, *rest = cast(tuple[Any, ...], np.random.get_state())
    return {
        "numpy's generator": (kind, words.tobytes(), *rest),
        "Python's generator": random.getstate(),
    }


def check_drew_nothing(before: Mapping[str, Any], again: Callable[[], object]) -> None:
    """Check that the generators of numpy and Python are where they were before the client's code ran.

    Args:
        before: Their positions then.
        again: Runs that code once more, to find the line; called where one has moved alone.

    Raises:
        ProgramError: One has moved; the message names file and line, where they can be told.
    """
    now = positions()
    moved = [name for name in before if now[name] != before[name]]
    if moved:
        raise ProgramError(
            f"The step draws random numbers from {' and '.join(moved)}{in_brackets(_where_moved(again))}. Captured "
            "once, they would be the same in every step.",
            remedy=_REMEDY,
        )


def check_same(one: fx.GraphModule, other: fx.GraphModule, key: str, moments: Moments) -> None:
    """Check that a step that was traced twice is the same.

    Args:
        one: The step.
        other: The same at another moment and under other seeds.
        key: Of the nodes' metadata that ends with file and line.
        moments: What the step asked for.

    Raises:
        ProgramError: They differ; the message names file and line of the first operator that does.
    """
    node = first_difference(one, other)
    if node is None:
        return
    line = (node.meta.get(key) or ("",))[-1]
    if moments.reads:
        raise ProgramError(
            f"The step is not the same in every step{in_brackets(line)}: it hangs on {moments.reads}.",
            remedy=moments.remedy,
        )
    raise ProgramError(
        f"The step is another one when it is captured a second time{in_brackets(line)}: it hangs on a clock, on random "
        "numbers of another library than torch, on how often it ran, or on what an earlier run left behind.",
        remedy=f"{_REMEDY} What one step leaves to the next belongs into a buffer of the model.",
    )


def first_difference(one: fx.GraphModule, other: fx.GraphModule) -> fx.Node | None:
    """Return the first node of a traced step that is read, and that the other does not have; None for none."""
    theirs: dict[fx.Node, fx.Node] = {}
    for node, second in zip_longest(read_nodes(one.graph), read_nodes(other.graph)):
        if node is None:
            return cast(fx.Node, second)
        if second is None or not _same(node, second, theirs, one, other):
            return cast(fx.Node, node)
        theirs[node] = second
    return None


def _same(
    node: fx.Node, second: fx.Node, theirs: Mapping[fx.Node, fx.Node], one: fx.GraphModule, other: fx.GraphModule
) -> bool:
    if node.op != second.op:
        return False
    if node.op == "get_attr":
        return _same_bits(getattr(one, str(node.target)), getattr(other, str(second.target)))
    arguments = map_arg((node.args, node.kwargs), lambda given: theirs[given])
    # As text: numbers are equal if they are written alike, infinite ones and those that are none as well.
    return node.target == second.target and repr(arguments) == repr((second.args, second.kwargs))


def _same_bits(one: Tensor, other: Tensor) -> bool:
    if (one.dtype, one.shape, one.layout) != (other.dtype, other.shape, other.layout):
        return False
    if one.layout is not torch.strided:
        return _same_bits(one.to_dense(), other.to_dense())
    return one.detach().cpu().numpy().tobytes() == other.detach().cpu().numpy().tobytes()


def _where_moved(run: Callable[[], object]) -> str:
    """Return file and line of the client's code, or a library's, at which a generator moves; empty if it does not."""
    before = positions()
    last = place = ""

    def line(frame: FrameType, _event: str, _given: object) -> Any:
        nonlocal last, place
        if place or whereabouts.is_inner(frame.f_code) or frame.f_code.co_filename == random.__file__:
            return None
        if last and positions() != before:
            place = last
        last = f"{frame.f_code.co_filename}, line {frame.f_lineno}"
        return line

    tracer = sys.gettrace()
    sys.settrace(line)
    try:
        run()
    finally:
        sys.settrace(tracer)
    return place or (last if positions() != before else "")
