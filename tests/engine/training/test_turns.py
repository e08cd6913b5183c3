"""Optimizers that take turns: what the client gives becomes an order of several programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import StepLR

from counterfoil.base.joberrors import TrialError
from counterfoil.program.update import Adam, AdamW, Sgd
from counterfoil.training.trial import Trial, TrialProgress, TrialStarted, gradients, passes_of
from counterfoil.training.turns import Turn, order_turns
from counterfoil_core.base.errors import DataError, ProgramError
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.bundle.schema import OrderManifest
from support.jobs import draw
from support.turns import D_RATE, G_RATE, deceive, gan_job, gan_order, tell_apart


def last_layers(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    """A loss of a layer of each half, which is quicker to capture than the whole."""
    return (model.discriminator[0](batch["x"]).mean() - model.generator[0](batch["x"][:, :4]).mean()).square()


def small(name: str, **changes: Any) -> Turn:
    half = {"d": "discriminator.*"}.get(name, "generator.*")
    chosen = {"objective": last_layers, "rule": Sgd(), "parameters": half, "learning_rate": 0.1} | changes
    return Turn(name, **chosen)


def test_the_programs_of_a_network_against_another():
    draft = gan_order()
    assert draft.programs.pattern == ("d", "d", "g")
    updated = {name: {n for n in program.updates if ":" not in n} for name, program in draft.programs.parts.items()}
    assert all(name.startswith(("discriminator.", "generator.1.")) for name in updated["d"])
    assert all(name.startswith("generator.") for name in updated["g"])
    # Its forward pass in the discriminator's steps moves the generator's statistics, as torch's does.
    assert "generator.1.running_mean" in updated["d"] & updated["g"]
    taken = {name: {item.name for item in p.state_inputs()} for name, p in draft.programs.parts.items()}
    assert "moment1:discriminator.0.bias" in taken["d"] - taken["g"]
    assert "momentum:generator.0.bias" in taken["g"] - taken["d"]
    assert taken["d"] | taken["g"] == set(draft.initial)
    assert draft.manifest.optimizer.startswith("d: Adam, ")
    assert draft.manifest.optimizer.endswith("in turns: d, d, g")


def test_an_optimizers_own_steps_count_for_it():
    draft, rule = gan_order(), gan_job().turns[0].rule
    columns = [draft.manifest.scalar_names.index(name) for name in rule.scalar_names]
    # Steps 1, 2, 4, 5 and 7 are the first to fifth of the discriminator.
    for own, step in enumerate((1, 2, 4, 5, 7), 1):
        np.testing.assert_array_equal(draft.scalars[step - 1, columns], rule.scalars(own, D_RATE))
    assert not draft.scalars[2, columns].any()


def test_optimizers_of_torch_bring_their_parameters_and_rates():
    job = gan_job()
    halves = job.model.discriminator, job.model.generator
    adam = torch.optim.Adam(halves[0].parameters(), lr=D_RATE, betas=(0.5, 0.999))
    sgd = torch.optim.SGD(halves[1].parameters(), lr=G_RATE, momentum=0.9)
    turns = (Turn("d", tell_apart, adam), Turn("g", deceive, sgd))
    assert order_turns(gan_job(model=job.model, turns=turns)).manifest == gan_order().manifest


def test_a_scheduler_moves_on_after_its_optimizers_steps():
    first, second = (
        small("d", learning_rate=0.8, scheduler=lambda o: StepLR(o, 1, 0.5)),
        small("g", learning_rate=[0.3, 0.2]),
    )
    draft = order_turns(gan_job(turns=(first, second)))
    assert draft.manifest.scalar_names == ("lr",)
    assert draft.scalars[:, 0].tolist() == [0.8, 0.4, 0.3, 0.2, 0.1, 0.2, 0.05]


def test_optimizers_of_torch_hold_their_own_parameters():
    model = gan_job().model
    given = order_turns(
        gan_job(
            model=model,
            turns=(
                Turn("d", tell_apart, torch.optim.Adam(model.discriminator.parameters(), 0.1)),
                Turn("g", deceive, torch.optim.SGD(model.generator.parameters(), 0.2, momentum=0.5)),
            ),
        )
    )
    ours = (
        Turn("d", tell_apart, Adam(), "discriminator.*", 0.1),
        Turn("g", deceive, Sgd(momentum=0.5), "generator.*", 0.2),
    )
    expected = order_turns(gan_job(model=model, turns=ours))
    assert given.manifest.digest == expected.manifest.digest


def test_the_model_is_left_as_it_was():
    job = gan_job(turns=(small("d"), small("g")))
    job.model.generator[0].bias.requires_grad_(False)
    before = {name: value.clone() for name, value in job.model.state_dict().items()}
    draft = order_turns(job)
    assert all(torch.equal(value, before[name]) for name, value in job.model.state_dict().items())
    required = {name: parameter.requires_grad for name, parameter in job.model.named_parameters()}
    assert [name for name, needed in required.items() if not needed] == ["generator.0.bias"]
    assert "generator.0.bias" not in draft.programs.parts["g"].updates


def scaled(by: float) -> Any:
    """An objective with a constant of its own."""
    weights = torch.linspace(1, by, 6)
    return lambda model, batch: last_layers(model, {"x": batch["x"] * weights})


@pytest.mark.parametrize(("other", "constants"), [(2.0, 1), (3.0, 2)])
def test_constants_of_the_same_name_are_kept_apart(other: float, constants: int):
    first, second = small("d", objective=scaled(2.0)), small("g", objective=scaled(other))
    draft = order_turns(gan_job(turns=(first, second)))
    found = {name: array for name, array in draft.initial.items() if "constant" in name}
    assert list(found) == ["constant.1", "g.constant.1"][:constants]
    for name, array in found.items():
        np.testing.assert_array_equal(array, torch.linspace(1, other if name[0] == "g" else 2.0, 6).numpy())
    for _ in draft.try_first_step():
        pass


D = small("d", rule=AdamW())


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"turns": ()}, "no turns"),
        ({"turns": (D,), "pattern": "d, d"}, "has 1 turns; it must have 2"),
        ({"turns": (D, small("d"))}, "two turns|Two turns"),
        ({"turns": (D, small("../g")), "pattern": "d, ../g"}, "cannot be called"),
        ({"turns": (D, small("h"))}, r"pattern \(d, d, g\) must name each turn \(d, h\)"),
        ({"pattern": "d, d"}, "must name each turn"),
        ({"pattern": ""}, "must name each turn"),
        ({"pattern": ["d", "g"] * 500_001, "steps": 1_000_002}, "at most 1,000,000 steps"),
        ({"pattern": "d, d, d, d, d, d, d, g"}, "has 8 steps, more than the job"),
        ({"turns": (D, small("g", parameters="*"))}, "'discriminator.0.weight' is trained by the turns d and g"),
        ({"turns": (D, small("g", parameters="generators.*"))}, "In the turn 'g': There is no parameter to train"),
        (
            {"turns": (D, small("g", learning_rate=[0.1]))},
            "In the turn 'g': The job lists 1 learning",
        ),
        ({"turns": (D, small("g", learning_rate=-1.0))}, "learning rate"),
        ({"steps": 0}, "steps is 0"),
        ({"checkpoint_every": 3, "commit_every": 2}, "not a multiple"),
        ({"data": {}}, "no data"),
    ],
)
def test_what_cannot_be_ordered_is_refused(settings: dict[str, Any], sentence: str):
    with pytest.raises(DataError, match=sentence):
        order_turns(gan_job(**settings))


def test_what_cannot_be_captured_names_the_turn():
    def decides(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        loss = last_layers(model, batch)
        return loss if loss > 0 else -loss

    with pytest.raises(ProgramError, match=r"In the turn 'g': .*control flow"):
        order_turns(gan_job(turns=(D, small("g", objective=decides))))


def test_every_program_is_tried_before_the_order_is_written():
    events = list(gan_order().try_first_step())
    started, trial = events[0], events[-1]
    assert isinstance(started, TrialStarted)
    programs = gan_order().programs.all
    # The step as its trainer executes it, and its passes twice: on the grid, and without rounding.
    passes = [passes_of(program, gradients(program)) for program in programs]
    assert started.total == sum(len(one.nodes) + 2 * len(two.nodes) for one, two in zip(programs, passes, strict=True))
    assert isinstance(trial, Trial)
    assert all(e.done <= started.total for e in events if isinstance(e, TrialProgress))

    def fails(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        return (last_layers(model, batch) * 0).log()

    with pytest.raises(TrialError, match="Step 3 of this order fails"):
        list(order_turns(gan_job(turns=(D, small("g", objective=fails)))).try_first_step())


def test_a_long_pattern_is_said_in_words_as_far_as_there_is_room():
    draft = order_turns(gan_job(turns=(small("d"), small("g")), pattern=["d", "g"] * 600, steps=1200))
    assert draft.manifest.optimizer.endswith(", d, g, ...")
    assert len(draft.manifest.optimizer) < 2000
    assert OrderManifest.from_bytes(draft.manifest.to_bytes()) == draft.manifest


def test_micro_batches_of_one_of_them_and_an_exact_profile():
    job = gan_job(
        turns=(D, small("g", micro_batches=2)), data={"x": draw((40, 6), 1), "noise": draw((40, 4), 2)}, pattern="d, g"
    )
    draft = job.draft(ExactPrecision(20))
    assert draft.manifest.precision == ExactPrecision(20)
    assert "g: SGD, momentum 0, weight decay 0, 2 micro-batches" in draft.manifest.optimizer
