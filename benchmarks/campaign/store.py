"""Results on the disk: a file for each task, in the folder of its part."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from benchmarks.campaign.task import Ended, Result
from counterfoil.base.wholefiles import write_whole
from counterfoil_core.base.errors import DataError

_ABOUT = "about.json"


class Store:
    """The results of a campaign.

    Args:
        folder: Where they lie.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def claim(self, about: Mapping[str, str], *, same: Collection[str]) -> None:
        """Say whose results these are, or check that they are of the same.

        Args:
            about: What is said of them.
            same: The names in it that must be equal.

        Raises:
            DataError: They are another's.
        """
        path = self.folder / _ABOUT
        if not path.exists():
            self._write(path, about)
        elif other := [f"{self.about[name]}, not {about[name]}" for name in same if self.about[name] != about[name]]:
            raise DataError(
                f"The results in {self.folder} are of {'; '.join(other)}.", remedy="Name another folder with --out."
            )

    @property
    def about(self) -> dict[str, str]:
        """What is said of them.

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
            yield Result(**{**value, "outcome": Ended(value["outcome"])})

    @staticmethod
    def _write(path: Path, value: object) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, (json.dumps(value, indent=1, sort_keys=True) + "\n").encode(), what="a result")
