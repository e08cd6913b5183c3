"""Stands for the service that scripts send their curves to: takes everything and sends nothing."""

from __future__ import annotations

from typing import Any


class Run:
    name = ""

    def log(self, *_args: Any, **_options: Any) -> None:
        pass

    def finish(self) -> None:
        pass


run = Run()


def init(*_args: Any, **_options: Any) -> Run:
    return run


def log(*_args: Any, **_options: Any) -> None:
    pass


def finish() -> None:
    pass
