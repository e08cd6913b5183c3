"""The first operator of a step at which two runs part. It comes from fingerprints, so no verdict rests on it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from counterfoil.audit.events import DisputedOperator, NeighbourOperator
from counterfoil.program.graph import Program, node_values

Fingerprints = npt.NDArray[np.uint64]
NEIGHBOURS = 6
"""Operators that are named before and after the disputed one."""


def first_differing_operator(program: Program, trainer: Fingerprints, replay: Fingerprints) -> DisputedOperator | None:
    """Return the first rounded operator whose fingerprint differs; None when all agree.

    Every rounded operator before it agrees, so what reaches it is equal unless a view or an exact operator brings in
    something else, such as another batch: then it is the first place where that shows.

    Args:
        program: The program of the step.
        trainer: uint64 ``[sites]``: the trainer's fingerprints of the step.
        replay: uint64 ``[sites]``: the replay's.
    """
    if trainer.shape != replay.shape:
        return None
    differing = np.flatnonzero(trainer != replay)
    if not len(differing):
        return None
    site = program.sites[int(differing[0])]
    node = program.nodes[site.node]
    output = node.outputs[site.output]
    assert output is not None
    inputs = (program.types[value.number] for value in node_values(node))
    return DisputedOperator(
        number=site.node + 1,
        total=len(program.nodes),
        name=node.operator,
        module=node.module,
        phase=node.phase,
        shape=output.shape,
        input_shapes=tuple(kind.shape for kind in inputs if kind is not None),
        differing_operators=len({program.sites[int(index)].node for index in differing}),
        neighbours=_neighbours(program, site.node, trainer != replay),
    )


def _neighbours(program: Program, centre: int, differs: npt.NDArray[np.bool_]) -> tuple[NeighbourOperator, ...]:
    around = range(max(0, centre - NEIGHBOURS), min(len(program.nodes), centre + NEIGHBOURS + 1))
    agrees: dict[int, bool] = {}
    for site, differing in zip(program.sites, differs.tolist(), strict=True):
        if site.node in around:
            agrees[site.node] = agrees.get(site.node, True) and not differing
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
