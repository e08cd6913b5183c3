"""Values that a step is asked for while it has none: placeholders for logs, refused where they reach the loss."""

from __future__ import annotations

import math
import operator
import re
import statistics
from collections.abc import Callable
from functools import cache
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.program.asked import Asked, AskedValues, PlainNames
from counterfoil.program.asked.questions import Policy
from counterfoil.program.capture import CapturedStep, capture
from counterfoil.program.remedies import NoFormError
from counterfoil.program.update import Sgd
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.operators.node import TensorType

BATCH = {"x": TensorType("float32", (4, 3)), "y": TensorType("int64", (4,))}
Log = Callable[[Tensor, Tensor, Tensor], Any]
LOGGED: list[str] = []


def captured(log: Log) -> CapturedStep:
    """A step that logs, by a function of its loss, its outputs and its labels, and multiplies by what that gives."""

    def objective(model: nn.Module, batch: Any) -> Tensor:
        logits = model(batch["x"])
        loss = functional.cross_entropy(logits, batch["y"])
        factor = log(loss, logits, batch["y"])
        return loss if factor is None else loss * factor

    torch.manual_seed(0)
    return capture(nn.Linear(3, 2), objective, Sgd(), BATCH)


@cache
def plain() -> Digest:
    """The program of a step in which nobody asks."""
    return captured(lambda *_: None).program.digest


def line_of(function: Callable[..., Any]) -> int:
    return function.__code__.co_firstlineno


def kept(value: Any) -> None:
    LOGGED.append(str(value))


def refused(log: Log) -> ProgramError:
    with pytest.raises(ProgramError) as caught:
        captured(log)
    return caught.value


BEST = {"loss": 1e9}
NONSENSE = re.compile(r"-(1000000000000000000|9999999999\d{8})")


def best_so_far(loss: Tensor, *_: Tensor) -> None:
    if loss.item() < BEST["loss"]:
        BEST["loss"] = loss.item()


def right(_loss: Tensor, logits: Tensor, labels: Tensor) -> None:
    count = 0
    for guess, label in zip(logits.argmax(1).tolist(), labels.tolist(), strict=True):
        if guess == label:
            count += 1
    kept(f"{count / len(labels):.2%}")


TAKEN: dict[str, Log] = {
    "item": lambda loss, *_: kept(loss.item()),
    "float": lambda loss, *_: kept(float(loss)),
    "int": lambda loss, *_: kept(int(loss.detach() * 100)),
    "format": lambda loss, *_: kept(f"{loss:.3f}"),
    "format of an item": lambda loss, *_: kept(f"{loss.item():>8.3f}"),
    "percent": lambda loss, *_: kept("%.3f, %d, %s" % (loss.item(), loss.item(), loss.item())),  # noqa: UP031
    "print": lambda loss, *_: print(loss, loss.item()),
    "repr": lambda loss, *_: kept(str(loss)),
    "tolist": lambda _loss, logits, _y: kept(logits.tolist()),
    "numpy": lambda loss, *_: kept(loss.detach().cpu().numpy() * 2 + 1),
    "numpy's mean": lambda loss, *_: kept(np.mean([loss.item(), loss.item()])),
    "numpy's deviation": lambda loss, *_: kept(np.std([loss.item(), 1.0])),
    "numpy of results": lambda _loss, logits, y: kept((logits.argmax(1).numpy() == y.numpy()).mean()),
    "numpy's order": lambda _loss, logits, y: kept(np.argmax(logits.detach().numpy(), axis=1).tolist()),
    "accuracy": lambda _loss, logits, y: kept((logits.argmax(1) == y).sum().item() / len(y)),
    "mean": lambda loss, *_: kept(sum([loss.item(), loss.item()]) / 2),
    "average": lambda loss, *_: kept(0.9 * 3.0 + 0.1 * loss.item() - 1),
    "perplexity": lambda loss, *_: kept(math.exp(loss.item())),
    "perplexity of a tensor": lambda loss, *_: kept(math.exp(loss)),
    "perplexity by its name": lambda loss, *_: kept(exp(loss.item())),
    "statistics": lambda loss, *_: kept(statistics.fmean([loss.item(), 1.0])),
    "round": lambda loss, *_: kept(round(loss.item(), 4)),
    "max": lambda loss, *_: kept(max(0.0, loss.item())),
    "min of tensors": lambda loss, *_: kept(min(1.0, float(loss))),
    "truth of a tensor": lambda loss, *_: kept("high" if loss > 1 else "low"),
    "truth of a number": lambda loss, *_: kept("high" if loss.item() > 1 else "low"),
    "interval": lambda loss, *_: kept("in" if 1 < float(loss) < 2 else "out"),
    "isnan": lambda loss, *_: kept("none" if math.isnan(loss.item()) else "one"),
    "equal": lambda _loss, logits, y: kept(int(torch.equal(logits.argmax(1), y))),
    "best": best_so_far,
    "count": right,
}


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_logged_changes_no_program(name: str) -> None:
    assert captured(TAKEN[name]).program.digest == plain()


@pytest.mark.every_moment
def test_a_placeholder_never_looks_like_a_number() -> None:
    LOGGED.clear()
    for name in ("format", "format of an item", "percent", "accuracy", "numpy", "numpy of results", "best"):
        captured(TAKEN[name])
    texts = LOGGED
    assert len(texts) >= 12
    assert not [text for text in texts if any(digit in text for digit in "123456789") and not NONSENSE.search(text)]
    assert "       ?" in texts


def test_a_check_that_ends_training_is_part_of_the_step() -> None:
    def stopping(loss: Tensor, *_: Tensor) -> None:
        if loss.item() > 1e3:
            raise ValueError("diverged")

    def exiting(loss: Tensor, *_: Tensor) -> None:
        if not math.isfinite(loss.item()):
            print("the loss is", loss.item())
            raise SystemExit(1)

    for check in (stopping, exiting):
        program = captured(check).program
        assert program.digest != plain()
        assert "aten.where" in program.to_bytes().decode()


def scaled_if_high(loss: Tensor, *_: Tensor) -> float:
    return 2.0 if loss.item() > 1 else 1.0


def learned_twice(loss: Tensor, *_: Tensor) -> float:
    factor = 1.0
    while loss.item() > 1 and factor < 4:
        factor *= 2
    return factor


def by_index(loss: Tensor, logits: Tensor, *_: Tensor) -> Tensor:
    return logits[int(loss.item() * 0)].sum()


def swallowed(loss: Tensor, *_: Tensor) -> Any:
    try:
        return torch.tensor(loss.item())
    except Exception:
        return 1.0


REFUSED: dict[str, tuple[Log, str]] = {
    "item": (lambda loss, *_: loss.item(), "reaches the loss"),
    "float": (lambda loss, *_: float(loss), "reaches the loss"),
    "on the left": (lambda loss, *_: loss.item() * loss, "reaches the loss"),
    "a tensor of it": (lambda loss, *_: torch.tensor(loss.item()), "reaches the loss"),
    "a tensor of a list": (lambda loss, *_: torch.tensor([1.0, loss.item() / 2]).sum(), "reaches the loss"),
    "filled": (lambda loss, *_: torch.full((), math.exp(loss.item())), "reaches the loss"),
    "as_tensor of numpy": (lambda loss, *_: torch.as_tensor(loss.detach().numpy()), "reaches the loss"),
    "sum": (lambda loss, *_: loss * sum([1.0, loss.item()]), "reaches the loss"),
    "swallowed": (swallowed, "reaches the loss"),
    "size": (lambda loss, *_: torch.ones(int(loss)).sum(), "is used as a size or an index"),
    "index": (by_index, "reaches the loss"),
    "range": (lambda loss, *_: sum(1 for _ in range(int(loss))), "is used as a size or an index"),
    "branch": (scaled_if_high, "decides control flow"),
    "branch of a tensor": (lambda loss, *_: 2.0 if loss > 1 else 1.0, "decides control flow"),
    "while": (learned_twice, "decides control flow"),
    "max": (lambda loss, *_: max(0.5, loss.item()), "decides control flow"),
    "bool": (lambda loss, *_: 1.0 + bool(loss > 1), "decides control flow"),
    "bool of an item": (lambda loss, *_: 1.0 + int(bool(loss.item() > 1)), "decides control flow"),
    "counted": (lambda _loss, logits, y: 1.0 + sum(1 for a, b in zip(logits.argmax(1), y, strict=True) if a == b),
        "decides control flow"),
    "looked up": (lambda loss, *_: {0: 1.0}.get(int(loss.item() > 9), 2.0), "something is looked up"),
    "told apart": (lambda _loss, _logits, y: float(len(set(y.tolist()))), "something is looked up"),
    "numpy's numbers": (lambda loss, *_: kept(np.float32(loss.item())), "is made a plain number"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_value_that_reaches_the_loss_is_refused_with_its_place(name: str) -> None:
    log, words = REFUSED[name]
    error = refused(log)
    assert words in error.sentence
    first = line_of(log)
    places = [f"{Path(__file__)}, line {number}" for number in range(first, first + 6)]
    assert any(place in error.sentence for place in places)
    assert error.remedy


def test_answers_of_several_places_are_tried_together() -> None:
    """Each of two places changes nothing alone."""

    def both(loss: Tensor, *_: Tensor) -> float:
        one = bool(loss > 1)
        other = bool(loss > 2)
        return 2.0 if one and other else 1.0

    assert "decides control flow" in refused(both).sentence


def test_what_is_known_is_answered_truly() -> None:
    table = torch.tensor([3.0, 4.0])

    def known(*_: Tensor) -> float:
        kept(f"{table.max().item():.1f}")
        return float(table[0])

    LOGGED.clear()
    assert captured(known).program.digest == captured(lambda *_: 3.0).program.digest
    assert set(LOGGED) == {"4.0"}


def test_names_and_numbers_are_themselves_afterwards() -> None:
    captured(TAKEN["float"])
    assert math.exp(0.0) == 1.0
    assert "float" not in globals()
    assert not hasattr(math.exp, "__wrapped__")


class TestOutsideOfACapture:
    """The same with a policy of one's own, as a loop that is followed has it."""

    def asked(self, policy: Policy, **more: Any) -> AskedValues:
        return AskedValues(policy, PlainNames(), known=lambda tensor: tensor.numel() > 1, **more)

    def test_values_are_placeholders_and_a_policy_answers(self) -> None:
        asked: list[tuple[str, Any]] = []

        def answer(place: str, value: Any) -> bool:
            asked.append((place, value))
            return True

        loss = torch.tensor(0.5)
        with self.asked(answer):
            item = loss.item()
            assert isinstance(item, float)
            assert type(item) is Asked
            high = bool(item > 1)
            assert torch.ones(2).tolist() == [1.0, 1.0]
        assert high
        ((place, value),) = asked
        assert place.startswith(f"{Path(__file__)}, line ")
        # Nobody has seen it.
        assert value is None
        assert f"{item:.2f}" == "?"
        assert loss.item() == 0.5

    def test_afterwards_nobody_answers(self) -> None:
        with self.asked(lambda _place, _value: True):
            item = torch.tensor(0.5).item()
        with pytest.raises(RuntimeError, match="has none now"):
            bool(item > 1)
        assert type(item) is Asked

    @pytest.mark.parametrize(
        ("made", "value"),
        [
            (lambda item: item > 0.4, True),
            (lambda item: operator.gt(0.4, item), False),
            (lambda item: item * 2 - 0.25 == 0.75, True),
            (lambda item: 1 / item < item**2, False),
            (lambda item: round(item + 0.1) == 1, True),
            (lambda item: -item <= item, True),
            (lambda item: item.is_integer(), False),
        ],
    )
    def test_what_the_script_was_answered_decides_what_is_computed_of_it(
        self, made: Callable[[Any], Any], value: bool
    ) -> None:
        seen: list[Any] = []
        places: list[str] = []

        def known(place: str) -> float:
            places.append(place)
            return 0.5

        with self.asked(lambda _place, answer: seen.append(answer) or bool(answer), answers=known):
            item = torch.tensor(float("nan")).item()
            assert bool(made(item)) is value
            # It is no number for all that: who writes it gets none.
            assert f"{item}" == "?"
            assert type(item) is Asked
        assert seen == [value]
        (place,) = places
        assert place.startswith(f"{Path(__file__)}, line ")

    def test_what_nobody_has_seen_stays_unseen_whatever_is_computed_of_it(self) -> None:
        seen: list[Any] = []
        with self.asked(lambda _place, answer: seen.append(answer) is None):
            assert bool(torch.tensor(0.5).item() * 2 - 1 > 0)
        assert seen == [None]

    def test_what_is_computed_of_a_value_is_a_tensor_where_it_comes_back(self) -> None:
        loss = torch.tensor(0.5)

        def stand_in(asked: Asked) -> Tensor:
            assert asked.tensor is not None
            return asked.tensor()

        def back(item: Any) -> Tensor:
            made = torch.zeros(1)
            made[0] = item
            return made

        with self.asked(lambda _place, _value: True, stand_in=stand_in):
            item, other = loss.item(), torch.tensor(3.0).item()
            # A number of that time, whatever becomes of the tensor.
            loss.fill_(7.0)
            found = {
                "itself": back(item),
                "sums": back(item + 1),
                "of two": back(other - item),
                "reflected": back(1 - item),
                "quotients": back(1 / item),
                "powers": back(2**other),
                "chains": back((item * 2 + other) / 4),
                "truths": back(item < other),
            }
        expected = {
            "itself": 0.5, "sums": 1.5, "of two": 2.5, "reflected": 0.5, "quotients": 2.0, "powers": 8.0, "chains": 1.0,
            "truths": 1.0,
        }  # fmt: skip
        assert {name: tensor.item() for name, tensor in found.items()} == expected

    def test_an_answer_does_not_stand_in_for_a_tensor(self) -> None:
        # A program that held it would hold a value of one run.
        with (
            pytest.raises(NoFormError, match="takes a number out of a tensor"),
            self.asked(lambda _place, _value: True, answers=lambda _: 0.5),
        ):
            torch.ones(2) * torch.tensor(0.5).item()
