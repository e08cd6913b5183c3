"""What counts of a step, and when two steps are of one program."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from counterfoil.program.attribution import Location
from counterfoil.program.remedies import Notes
from counterfoil.training.following.steps import Geometry, Tape, tape_of
from counterfoil.training.following.world import World


def world_of(parameter: nn.Parameter) -> World:
    """A world of one parameter, without an optimizer."""
    return World({"w": parameter}, {}, Location(), Notes(), is_slot=lambda _: "", wrote=lambda _: None)


def _tape(run: Callable[[World, Tensor], Tensor]) -> Tape:
    """What counts of a step over one parameter, whose loss is what a function returns."""
    parameter = nn.Parameter(torch.ones(3))
    world = world_of(parameter)
    with world, torch.no_grad():
        loss = run(world, parameter)
        world.step.losses.append(Geometry.of(loss))
        parameter.sub_(loss, alpha=0.5)
    return tape_of(world.step, {"w"})


def _names(tape: Tape) -> list[str]:
    return [str(getattr(event, "function", event)) for event in tape.events]


def test_what_leads_to_neither_state_nor_loss_is_no_part_of_a_step() -> None:
    def with_log(_: World, w: Tensor) -> Tensor:
        (w * 3).max()
        w.detach().view(3)[0]
        return (w * 2).sum()

    plain = _tape(lambda _, w: (w * 2).sum())
    assert _names(_tape(with_log)) == _names(plain) == ["aten.mul.Tensor", "aten.sum.default", "aten.sub_.Tensor"]
    assert _tape(with_log).key == plain.key
    assert plain.written == ("w",)


def test_steps_differ_by_operators_and_shapes_and_not_by_values() -> None:
    def brought(value: float, length: int) -> Tape:
        return _tape(lambda _, w: (w[:length] * torch.full((length,), value)).sum() * value)

    assert brought(2.0, 3).key == brought(5.0, 3).key
    assert brought(2.0, 3).key != brought(2.0, 2).key
    assert len(brought(2.0, 3).met) == 1
    assert brought(2.0, 3).key != _tape(lambda _, w: w.exp().sum()).key


def test_what_has_values_keeps_them_and_the_parameter_too() -> None:
    seen: list[float] = []
    parameter = nn.Parameter(torch.ones(3))
    world = world_of(parameter)
    with world, torch.no_grad():
        seen.append((torch.arange(4.0) * 2).sum().item())
        parameter.mul_(7)
    assert seen == [12.0]
    assert parameter.tolist() == [1.0, 1.0, 1.0]


def test_a_change_of_a_view_is_one_of_what_it_shows() -> None:
    kept = torch.zeros(4)
    parameter = nn.Parameter(torch.ones(3))
    world = world_of(parameter)
    with world, torch.no_grad():
        kept[1:] = parameter * 2
        world.step.losses.append(Geometry.of(kept.sum()))
    tape = tape_of(world.step, {"w"})
    # The sum needs what was written through the view.
    assert "aten.copy_.default" in _names(tape)
    assert tape.written == ("kept.1",)
    assert kept.tolist() == [0.0, 0.0, 0.0, 0.0]
