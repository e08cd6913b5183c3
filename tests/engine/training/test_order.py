from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from counterfoil.program.update import AdamW, Sgd
from counterfoil.training.order import OrderDraft, draft_order
from counterfoil.training.orderfile import load_order
from counterfoil.training.recipes.digits import order_digits
from counterfoil.training.recipes.gpt2 import Gpt2Size, order_gpt2
from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CounterfoilError, DataError, ProgramError
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import ArraySpec
from counterfoil_core.commit.state import tensor_digest
from counterfoil_resources.digits import load_digits
from support.bundles import Contents, write_bundle
from support.jobs import TEXT, TINY_GPT2, capture_on, classify, digits_order, draw, gpt2_order, own_order

DATA = {"x": draw((16, 3), 1), "labels": np.arange(16) % 4}


def small(**settings: Any) -> OrderDraft:
    return own_order(nn.Linear(3, 4), classify, DATA, **settings)


def test_an_order_comes_back_as_it_was_written(tmp_path):
    draft = small(rule=AdamW())
    draft.write(tmp_path / "job.cfoil")
    with BundleReader.open(tmp_path / "job.cfoil") as reader:
        reader.check_order_contents()
        order = load_order(reader)
        assert not reader.has_run
    assert order.manifest == draft.manifest
    assert order.program == draft.program
    assert {name: tensor.numpy().tobytes() for name, tensor in order.initial.items()} == {
        name: array.tobytes() for name, array in draft.initial.items()
    }
    for step in (1, 3):
        inputs = order.inputs(step, order.initial)
        assert np.array_equal(inputs.batch["x"].numpy(), DATA["x"][draft.schedule[step - 1]])
        assert inputs.scalars == dict(zip(AdamW().scalar_names, draft.scalars[step - 1], strict=True))
        assert (inputs.draws.seed, inputs.draws.step) == (3, step)


def test_drafting_is_reproducible_and_everything_matters():
    one = small().manifest.digest
    assert small().manifest.digest == one
    others = [small(seed=4), small(learning_rate=0.06), small(steps=5), small(rule=Sgd()), small(batch_size=4)]
    assert len({one, *(other.manifest.digest for other in others)}) == 6


@pytest.mark.slow
def test_the_orders_of_other_tests_are_those_of_the_recipes():
    """Their operators are captured once for all seeds and steps; a manifest binds all that an order holds."""
    images, labels = load_digits()
    coarse = PROFILES["float64-18"]
    ours = {"steps": 3, "batch_size": 8, "width": 4, "checkpoint_every": 3, "seed": 12, "precision": coarse}
    digits_order(**ours | {"steps": 2, "seed": 13})
    assert digits_order(**ours).manifest == order_digits(images[:200], labels[:200], **ours).manifest
    assert digits_order(**ours).manifest != digits_order(**ours | {"precision": None}).manifest
    ours = {"steps": 2, "batch_size": 2, "checkpoint_every": 1, "seed": 6, "warmup": 1, "precision": coarse}
    gpt2_order(**ours | {"steps": 4, "seed": 7, "warmup": 2})
    assert gpt2_order(**ours).manifest == order_gpt2(TEXT, size=TINY_GPT2, **ours).manifest


def draft(**changes: Any) -> OrderDraft:
    settings: dict[str, Any] = {
        "title": "t",
        "recipe": "r",
        "captured": capture_on(nn.Linear(3, 2), (4, 3)),
        "rule": Sgd(),
        "learning_rates": [0.1, 0.1],
        "schedule": np.arange(8).reshape(2, 4),
        "data": {"x0": draw((8, 3), 1)},
        "seed": 1,
    }
    return draft_order(**(settings | changes))


def test_the_control_draft_is_good():
    assert draft().manifest.steps == 2
    # Scalars that the program does not read do no harm.
    assert draft(rule=AdamW()).manifest.scalar_names == AdamW().scalar_names


@pytest.mark.parametrize(
    "changes",
    [
        {"learning_rates": [0.1]},
        {"learning_rates": []},
        {"schedule": np.zeros((0, 4))},
        {"schedule": np.arange(8)},
        {"schedule": np.arange(8).reshape(2, 4) + 1},
        {"schedule": np.arange(8).reshape(2, 4) - 1},
        {"schedule": np.arange(6).reshape(2, 3)},
        {"data": {}},
        {"data": {"x1": draw((8, 3), 1)}},
        {"data": {"x0": draw((8, 4), 1)}},
        {"data": {"x0": np.zeros((8, 3), np.int64)}},
        {"seed": -1},
        {"seed": 2**64},
    ],
    ids=str,
)
def test_an_order_that_does_not_fit_together(changes):
    with pytest.raises(CounterfoilError) as caught:
        draft(**changes)
    assert caught.value.sentence.endswith(".")


# Orders from a stranger: the manifest commits to what the file holds, but the parts do not fit.


def contents(made: OrderDraft, **parts: Any) -> Contents:
    """The contents of an order with some parts replaced, and a manifest that commits to them."""
    fields = {"schedule": made.schedule, "scalars": made.scalars, "program": made.program.to_bytes()} | parts
    specs = {
        name: ArraySpec(fields[name].dtype.name, fields[name].shape, tensor_digest(name, fields[name]))
        for name in ("schedule", "scalars")
    }
    manifest = replace(made.manifest, programs=Turns.alone(Digest.of(fields["program"])), **specs)
    return Contents(
        manifest, fields["program"], fields["schedule"], fields["scalars"], dict(made.data), dict(made.initial)
    )


def loaded(folder: Any, changed: Contents) -> Any:
    path = write_bundle(folder / "job.cfoil", changed)
    with BundleReader.open(path) as reader:
        reader.check_order_contents()
        return load_order(reader)


def edited(made: OrderDraft, edit: Any) -> bytes:
    value = json.loads(made.program.to_bytes())
    edit(value)
    return canonical.encode(value)


def test_control_an_order_of_a_stranger(tmp_path):
    assert loaded(tmp_path, contents(small())).manifest.steps == 4


def rename(kind: str, name: str) -> Any:
    def edit(value: Any) -> None:
        item = next(item for item in value["inputs"] if item["kind"] == kind and item["name"] == name)
        item["name"] = "other"

    return edit


def reshape(kind: str, name: str) -> Any:
    def edit(value: Any) -> None:
        next(item for item in value["inputs"] if item["kind"] == kind and item["name"] == name)["shape"] = [7]

    return edit


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (rename("batch", "x"), "'other'"),
        (rename("scalar", "lr"), "'other'"),
        (reshape("batch", "x"), "aten.addmm.default"),
        (reshape("scalar", "lr"), "aten.mul.Tensor"),
        (reshape("state", "momentum:bias"), "momentum:bias"),
    ],
)
def test_a_program_that_does_not_fit_its_order(tmp_path, edit, sentence):
    made = small()
    with pytest.raises(ProgramError) as caught:
        loaded(tmp_path, contents(made, program=edited(made, edit)))
    assert sentence in str(caught.value)


@pytest.mark.parametrize("row", [-1, 16, 2**40])
def test_a_schedule_that_names_rows_the_data_does_not_have(tmp_path, row):
    made = small()
    schedule = made.schedule.copy()
    schedule[2, 1] = row
    with pytest.raises(CounterfoilError, match="row"):
        loaded(tmp_path, contents(made, schedule=schedule))


# Recipes.

IMAGES, LABELS = np.zeros((40, 8, 8), np.uint8), np.zeros(40, np.int64)


@pytest.mark.parametrize(
    ("images", "labels", "settings"),
    [
        (IMAGES.astype(np.float32), LABELS, {}),
        (IMAGES[:, :7], LABELS, {}),
        (IMAGES, LABELS[:39], {}),
        (IMAGES, LABELS.astype(np.int32), {}),
        (IMAGES, LABELS + 10, {}),
        (IMAGES, LABELS - 1, {}),
        (IMAGES, LABELS, {"batch_size": 41}),
        (IMAGES, LABELS, {"batch_size": 0}),
        (IMAGES, LABELS, {"steps": 0}),
    ],
)
def test_digits_that_cannot_be_ordered(images, labels, settings):
    with pytest.raises(DataError):
        order_digits(images, labels, **settings)


@pytest.mark.parametrize(
    "settings",
    [
        {"size": Gpt2Size(heads=3)},
        {"size": Gpt2Size(layers=0)},
        {"size": Gpt2Size(vocabulary=255)},
        {"text": b"short"},
        {"batch_size": 10_000},
    ],
    ids=str,
)
def test_texts_that_cannot_be_ordered(settings):
    text = settings.get("text", TEXT)
    with pytest.raises(DataError):
        order_gpt2(text, **{key: value for key, value in settings.items() if key != "text"})


def test_initial_weights_are_the_same_whatever_torch_draws():
    torch.manual_seed(1)
    one = digits_order().manifest.initial_root, gpt2_order().manifest.initial_root
    torch.manual_seed(2)
    assert (digits_order().manifest.initial_root, gpt2_order().manifest.initial_root) == one
    assert digits_order(seed=12).manifest.initial_root != one[0]
