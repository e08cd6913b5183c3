"""What is to be measured: a device, a size, and where results go."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from benchmarks.pages import machine_name


class Scale(StrEnum):
    """How large the jobs are."""

    FULL = "full"
    """For a large GPU."""
    SMALL = "small"
    """For the CPU: the same parts, at sizes that show that they work and say nothing of speed."""


@dataclass(frozen=True)
class Settings:
    """One measurement."""

    device: str  #: ``cpu`` or ``cuda:0``.
    scale: Scale  #: How large the jobs are.
    out: Path  #: The folder of its results.
    threads: int | None = None  #: Threads on the CPU for what is timed; all cores unless given.

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

    @property
    def about(self) -> dict[str, str]:
        """What is said of the results: the device, its title, the host and the scale."""
        return {
            "device": self.device.split(":")[0],
            "title": machine_name(self.device),
            "host": f"{machine_name('cpu')}, {platform.system()} {platform.machine()}",
            "scale": self.scale.value,
        }

    def to_json(self) -> str:
        """Return the JSON form, for a process of its own."""
        return json.dumps(asdict(self), default=str)

    @classmethod
    def from_json(cls, text: str) -> Settings:
        """Read the JSON form."""
        value = json.loads(text)
        return cls(
            device=value["device"],
            scale=Scale(value["scale"]),
            out=Path(value["out"]),
            threads=value["threads"],
        )
