"""Where two runs of a step part: in what it reads, or at which operator. It comes from fingerprints."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from counterfoil_core.program.graph import Program, node_values
from counterfoil_core.program.places import PlaceSort
from counterfoil_core.values.dispute import DisputedOperator, NeighbourOperator

Fingerprints = npt.NDArray[np.uint64]
NEIGHBOURS = 6
"""Operators that are named before and after the disputed one."""


def first_differing_operator(program: Program, trainer: Fingerprints, replay: Fingerprints) -> DisputedOperator | None:
    """Return the first operator whose fingerprint differs; None when all agree, or what the step reads differs.

    Every rounded operator before it agrees, so do the batch, the draws and every value on which a decision hangs: what
    reaches it is equal.

    Args:
        program: The program of the step.
        trainer: uint64 ``[places]``: the trainer's fingerprints of the step.
        replay: uint64 ``[places]``: the replay's.
    """
    if trainer.shape != replay.shape:
        return None
    differing = np.flatnonzero(trainer != replay)
    if not len(differing):
        return None
    place = program.places[int(differing[0])]
    if place.node is None:
        return None
    node = program.nodes[place.node]
    output = node.outputs[place.output]
    assert output is not None
    inputs = (program.types[value.number] for value in node_values(node))
    return DisputedOperator(
        number=place.node + 1,
        total=len(program.nodes),
        name=node.operator,
        module=node.module,
        phase=node.phase,
        shape=output.shape,
        input_shapes=tuple(kind.shape for kind in inputs if kind is not None),
        differing_operators=len({program.places[int(index)].node for index in differing}),
        neighbours=_neighbours(program, place.node, trainer != replay),
    )


def differing_inputs(program: Program, trainer: Fingerprints, replay: Fingerprints) -> tuple[str, ...]:
    """Return the names of the data arrays whose rows differ between the trainer's batch and the replay's.

    Args:
        program: The program of the step.
        trainer: uint64 ``[places]``: the trainer's fingerprints of the step.
        replay: uint64 ``[places]``: the replay's.
    """
    if trainer.shape != replay.shape:
        return ()
    differing = (program.places[int(index)] for index in np.flatnonzero(trainer != replay))
    return tuple(place.name for place in differing if place.sort is PlaceSort.BATCH)


def _neighbours(program: Program, centre: int, differs: npt.NDArray[np.bool_]) -> tuple[NeighbourOperator, ...]:
    around = range(max(0, centre - NEIGHBOURS), min(len(program.nodes), centre + NEIGHBOURS + 1))
    agrees: dict[int | None, bool] = {}
    for place, differing in zip(program.places, differs.tolist(), strict=True):
        if place.node in around:
            agrees[place.node] = agrees.get(place.node, True) and not differing
    return tuple(
        NeighbourOperator(
            number=index + 1,
            name=program.nodes[index].operator,
            module=program.nodes[index].module,
            phase=program.nodes[index].phase,
            shapes=tuple(output.shape for output in program.nodes[index].outputs if output is not None),
            agrees=agrees.get(index),
        )
        for index in around
    )
