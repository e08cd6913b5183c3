"""Results on the disk: a file for each task, in the folder of its part."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from benchmarks.gpu.settings import Settings
from benchmarks.gpu.task import Outcome, Result
from benchmarks.pages import machine_name
from counterfoil.base.errors import DataError
from counterfoil.base.wholefiles import write_whole

_ABOUT = "about.json"


class Store:
    """The results of one device at one scale.

    Args:
        folder: Where they lie.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def claim(self, settings: Settings) -> None:
        """Say whose results these are, or check that they are of the same device and scale.

        Raises:
            DataError: They are another's.
        """
        mine = {
            "device": settings.device.split(":")[0],
            "title": machine_name(settings.device),
            "host": f"{machine_name('cpu')}, {platform.system()} {platform.machine()}",
            "scale": settings.scale.value,
        }
        path = self.folder / _ABOUT
        if not path.exists():
            self._write(path, mine)
            return
        theirs = self.about
        if any(theirs[name] != mine[name] for name in ("device", "title", "scale")):
            raise DataError(
                f"The results in {self.folder} are of {theirs['title']} at scale {theirs['scale']}; this is "
                f"{mine['title']} at scale {mine['scale']}.",
                remedy="Name another folder with --out.",
            )

    @property
    def about(self) -> dict[str, str]:
        """The device, its title, the host and the scale.

        Raises:
            DataError: Nothing was measured there.
        """
        path = self.folder / _ABOUT
        if not path.exists():
            raise DataError(f"There are no results in {self.folder}.", remedy="Measure first, without --write.")
        found: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
        return found

    def keep(self, result: Result) -> None:
        """Write the file of a result; it replaces an earlier one of the task."""
        self._write(self.folder / "results" / result.part / f"{result.task}.json", asdict(result))

    def results(self) -> dict[tuple[str, str], Result]:
        """Return the results that are there, by part and task."""
        return {result.key: result for result in self._read()}

    def _read(self) -> Iterator[Result]:
        for path in sorted((self.folder / "results").glob("*/*.json")):
            value = json.loads(path.read_text(encoding="utf-8"))
            yield Result(**{**value, "outcome": Outcome(value["outcome"])})

    @staticmethod
    def _write(path: Path, value: object) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, (json.dumps(value, indent=1, sort_keys=True) + "\n").encode(), what="a result")
