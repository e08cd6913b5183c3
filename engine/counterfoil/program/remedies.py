"""What to do about control flow that hangs on values: what applies to the operator, or the library, that asked."""

from __future__ import annotations

from pathlib import Path

from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException

from counterfoil.program.whereabouts import frames_raised
from counterfoil_core.base.errors import ProgramError

# What an operator's substitute raises where the operator, used like this, has no form in a program.


class NoFormError(ProgramError):
    """The rest of a sentence that begins with the module that was traced, and does not end yet: capture says where."""


# What was left out or changed of a client's code without its training becoming another one: told to the client.


class Notes:
    """Sentences for the client, each once, in the order in which they came."""

    def __init__(self) -> None:
        self._sentences: dict[str, None] = {}

    def add(self, sentence: str) -> None:
        """Add a sentence, unless it is there."""
        self._sentences[sentence] = None

    @property
    def sentences(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(self._sentences)


BRANCH = "Compute both branches and choose between them with torch.where, and keep shapes fixed."
_GRAPH = (
    "A graph that is the same in every step may be a tensor that the objective refers to, or a buffer of the model: it "
    "is known then when the order is written. Edges that come with the batch must be prepared before: add the loops, "
    "and say add_self_loops=False."
)
_POOLED = (
    "Which nodes stay is told by learned scores, so every step would have a graph of its own: weigh the nodes by their "
    "scores instead, or pool by groups that are known before."
)
_BY_FOLDERS = {("torch_geometric", "nn", "pool"): _POOLED, ("torch_geometric",): _GRAPH}
"""By folders that the file of a frame lies in, the narrower ones first."""
_BY_FUNCTION = {
    "pack_padded_sequence": "Give the padded sequence to the recurrent layer as it is, and take of the results what "
    "counts: weigh by a mask, or gather the last step of each row.",
    "unique": "Compute it before, and give it as a data array.",
}
_PICKED = "Keep the shape fixed: weigh by the mask, or choose with torch.where, instead of picking elements."
_BY_OPERATOR = {
    "nonzero": _PICKED,
    "index": _PICKED,
    "masked_select": _PICKED,
    "_local_scalar_dense": "Keep it a tensor instead of taking it out with item(), float(), tolist() or a condition; "
    "choose with torch.where.",
    "repeat_interleave": "Give it a number, or repeats that are the same in every step.",
}


def for_decision(error: Exception) -> str:
    """Return the remedy for control flow, or a shape, that hangs on the values of tensors."""
    for name, function in reversed(frames_raised(error)):
        if function in _BY_FUNCTION:
            return _BY_FUNCTION[function]
        remedy = _of_library(name)
        if remedy:
            return remedy
    asked = getattr(error, "func", None)
    if isinstance(error, (DataDependentOutputException, DynamicOutputShapeException)) and asked is not None:
        return _BY_OPERATOR.get(asked._schema.name.partition("::")[2], BRANCH)
    return BRANCH


def at_place(place: str) -> str:
    """Return the remedy for a branch at a file and line that hangs on values."""
    return _of_library(place.rpartition(", line ")[0]) or BRANCH


def _of_library(file: str) -> str:
    """The remedy that a library has of its own; empty for others."""
    parts = Path(file).parts
    for folders, remedy in _BY_FOLDERS.items():
        if any(parts[start : start + len(folders)] == folders for start in range(len(parts))):
            return remedy
    return ""
