"""Running a generator to its end."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

Result = TypeVar("Result")


def finish(generator: Generator[object, None, Result]) -> Result:
    """Run a generator to its end without looking at what it yields, and return what it returns."""
    while True:
        try:
            next(generator)
        except StopIteration as end:
            result: Result = end.value
            return result
