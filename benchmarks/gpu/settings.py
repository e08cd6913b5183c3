"""What is to be measured: a device, a size, and where results go."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from benchmarks.programs import ROOT


class Scale(StrEnum):
    """How large the jobs are."""

    FULL = "full"
    """For a large GPU."""
    SMALL = "small"
    """For the CPU: the same parts, at sizes that show that they work and say nothing of speed."""


@dataclass(frozen=True)
class Settings:
    """One measurement.

    Attributes:
        device: ``cpu`` or ``cuda:0``.
        scale: How large the jobs are.
        out: The folder of its results.
        source: The source tree, whose tests and golden runs are used; None where there is none.
        threads: Threads on the CPU for what is timed; all cores unless given.
    """

    device: str
    scale: Scale
    out: Path
    source: Path | None = None
    threads: int | None = None

    @property
    def small(self) -> bool:
        """Whether the jobs are small."""
        return self.scale is Scale.SMALL

    @property
    def on_gpu(self) -> bool:
        """Whether the device is no CPU."""
        return self.device != "cpu"

    @property
    def all_threads(self) -> int:
        """Threads for what has the machine to itself."""
        return self.threads or os.cpu_count() or 1

    def to_json(self) -> str:
        """Return the JSON form, for a process of its own."""
        return json.dumps(asdict(self), default=str)

    @classmethod
    def from_json(cls, text: str) -> Settings:
        """Read the JSON form."""
        value = json.loads(text)
        source = value["source"]
        return cls(
            device=value["device"],
            scale=Scale(value["scale"]),
            out=Path(value["out"]),
            source=None if source is None else Path(source),
            threads=value["threads"],
        )


def source_tree() -> Path | None:
    """Return the source tree; None where tests and golden runs were not copied with the laboratory."""
    return ROOT if (ROOT / "tests" / "engine" / "golden").is_dir() else None
