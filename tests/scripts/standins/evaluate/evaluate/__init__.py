"""Stands for a library whose measures would have to be downloaded: of any name, the share of equal answers."""

from __future__ import annotations

from typing import Any


class Accuracy:
    def __init__(self) -> None:
        self.right, self.all = 0, 0

    def add_batch(self, *, predictions: Any, references: Any) -> None:
        for found, wanted in zip(predictions, references, strict=True):
            self.right += int(found == wanted)
            self.all += 1

    def compute(self, *, predictions: Any = (), references: Any = ()) -> dict[str, float]:
        self.add_batch(predictions=predictions, references=references)
        return {"accuracy": self.right / max(self.all, 1)}


def load(*_name: str, **_options: Any) -> Accuracy:
    return Accuracy()
