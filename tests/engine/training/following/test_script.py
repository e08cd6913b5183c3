"""A library's loop whose step cannot be captured by itself is followed like any other."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import torch

from counterfoil.training.custom import CustomJob
from counterfoil.training.following.script import order_of_script
from counterfoil.training.scripts import run
from counterfoil.training.scripts.handover import Wanted
from counterfoil.training.scripts.patches import Patches
from counterfoil.training.scripts.run import Takeover
from counterfoil_core.base.errors import DataError, ProgramError
from support.followed import write_script

_LIBRARY = """
class Trainer:
    def __init__(self, model, rows):
        self.model, self.rows = model, rows

    def train(self):
        import torch
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        for number, x in enumerate(self.rows):
            loss = self.model(x).mean() * (1 + 0.5 * number)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
"""
_SCRIPT = """
    import torch
    from some_library import Trainer

    torch.manual_seed(0)
    Trainer(torch.nn.Linear(3, 1), torch.randn(4, 2, 3)).train()
"""


def _deciding(model: torch.nn.Module, batch: torch.Tensor) -> torch.Tensor:
    out: torch.Tensor = model(batch)
    return out.mean() if float(out.sum()) > 0 else -out.mean()


def _mean(model: torch.nn.Module, batch: torch.Tensor) -> torch.Tensor:
    out: torch.Tensor = model(batch)
    return out.mean()


def _patch(refused: bool, objective: Callable[[torch.nn.Module, torch.Tensor], torch.Tensor] = _deciding) -> Takeover:
    def patch(library: ModuleType, wanted: Wanted, patches: Patches) -> None:
        def train(self: object) -> None:
            if refused:
                raise DataError("The Trainer stops early.", remedy="Leave that out.")
            model, rows = self.model, self.rows.flatten(0, 1)  # type: ignore[attr-defined]
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            wanted.hand_over(CustomJob("Taken over", model, objective, optimizer, rows, 4, batch_size=2))

        patches.put(library.Trainer, "train", train)

    return Takeover("some_library", patch)


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "some_library.py").write_text(_LIBRARY)
    monkeypatch.delitem(sys.modules, "some_library", raising=False)
    # It runs in copies of the folder that one is in.
    monkeypatch.chdir(tmp_path)
    return write_script(tmp_path, _SCRIPT)


def test_what_cannot_be_captured_by_itself_is_followed(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "TAKEOVERS", (_patch(refused=False),))
    with pytest.raises(ProgramError):
        run.run_script(script, [], Wanted())
    made = order_of_script(script, [], Wanted())
    assert made.notes[0].startswith(
        "The library's loop was followed: what it names as its step could not be taken over (The step decides"
    )
    # Its loss is weighed by the number of the step.
    assert made.draft.manifest.steps == 4
    assert "number.1" in made.draft.manifest.scalar_names
    assert made.compared is not None
    assert made.compared.steps == (1, 2, 3, 4)


def test_what_is_taken_over_as_another_step_than_the_library_makes_is_followed(
    script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It leaves out the weight of the loss, which is 1 in the first step alone.
    monkeypatch.setattr(run, "TAKEOVERS", (_patch(refused=False, objective=_mean),))
    run.run_script(script, [], wanted := Wanted())
    assert wanted.taken_over, "nothing is wrong with it by itself"
    made = order_of_script(script, [], Wanted())
    assert made.notes[0].startswith("The library's loop was followed: ")
    assert re.search(r"Step [12] ", made.notes[0])
    assert made.compared is not None
    assert made.compared.steps == (1, 2, 3, 4)


def test_what_the_takeover_refuses_by_name_stays_refused(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "TAKEOVERS", (_patch(refused=True),))
    with pytest.raises(DataError, match="stops early"):
        order_of_script(script, [], Wanted())
