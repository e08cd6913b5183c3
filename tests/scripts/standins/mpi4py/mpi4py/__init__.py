"""Stands for the binding of a library that is not installed: one process, alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


class _Alone:
    rank, size = 0, 1

    def Get_rank(self) -> int:  # noqa: N802
        return self.rank

    def Get_size(self) -> int:  # noqa: N802
        return self.size

    def bcast(self, value: Any, root: int = 0) -> Any:
        return value


MPI = SimpleNamespace(COMM_WORLD=_Alone())
