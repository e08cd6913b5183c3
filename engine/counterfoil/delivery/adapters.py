"""LoRA weights that were merged into the weights that they adapt: W + scale * B A (Hu et al. 2021).

Where A and B stand, with which factor, and which way round W is read, the order's program says: nobody is asked who
could answer to his own advantage. What a merge may come to is bounded here, for every order of summation.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from counterfoil.base.joberrors import WeightsError
from counterfoil.delivery.adapterforms import ForwardPass
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.sentence import say
from counterfoil_core.program.graph import Program

_LORA = re.compile(r"(?P<module>.+)\.lora_(?P<side>[AB])(?:\.(?!weight$)(?P<adapter>[^.]+))?(?:\.weight)?")
_NAMED = re.compile(r"\.lora_([AB])\.(?!weight$)[^.]+")
_HEAD = re.compile(r"\.modules_to_save\.[^.]+")
_WRAPPED = ".base_layer."
WRAPPER = "base_model.model."
"""What PEFT puts before the names of a model that it adapts."""
_UNIT = 2.0**-24
"""Unit roundoff of float32."""
_FLUSHED = 2.0**-126
"""What a float32 operation loses at most below the normal numbers, also where subnormals are flushed."""
_FINER = 2.0**-52
"""Twice the unit roundoff of float64, in which the bound and the merge itself are computed here."""


@dataclass(frozen=True)
class Adapter:
    """One weight and what adapts it."""

    base: str  #: State tensor W.
    a: str  #: State tensor A.
    b: str  #: State tensor B.
    scale: float  #: The factor of their product.
    #: Which of W, A and B the step reads as they lie, ``x @ W``, and not transposed as a linear layer does.
    turned: tuple[bool, bool, bool]


def adapter_names(state: Collection[str]) -> dict[str, tuple[str, str]]:
    """Return the names of A and B for each weight that is adapted, by their usual names; empty where there are none.

    Raises:
        WeightsError: Two adapters are on one weight.
    """
    sides: dict[str, dict[str, str]] = {}
    for name in sorted(state):
        found = _LORA.fullmatch(name)
        if found is None:
            continue
        module = found["module"]
        bases = [base for base in (f"{module}.base_layer.weight", f"{module}.weight") if base in state]
        if not bases:
            continue
        pair = sides.setdefault(bases[0], {})
        if found["side"] in pair:
            raise WeightsError(
                say("The weight {0} has two adapters, and which of them was merged is not known.", repr(bases[0]))
            )
        pair[found["side"]] = name
    return {base: (pair["A"], pair["B"]) for base, pair in sides.items() if pair.keys() == {"A", "B"}}


def merged_name(name: str, state: Collection[str]) -> str:
    """Return how a state tensor is called once the adapters are merged and what PEFT wraps them in is taken off."""
    name = name.replace(_WRAPPED, ".")
    return name.removeprefix(WRAPPER) if all(other.startswith(WRAPPER) for other in state) else name


def adapter_file_name(name: str) -> str:
    """Return how PEFT calls a tensor that it saves with an adapter: without the name of the adapter.

    What is trained whole beside it, a classifier's head, it keeps as a module within the one whose place it takes.
    """
    return _HEAD.sub("", _NAMED.sub(r".lora_\1", name))


def find_adapters(programs: Sequence[Program], named: Mapping[str, tuple[str, str]]) -> dict[str, Adapter]:
    """Find in the programs of an order how each pair of :func:`adapter_names` is used.

    Raises:
        WeightsError: It cannot be told, or not everywhere in the same way.
    """
    found = {}
    passes = [ForwardPass(program) for program in programs]
    for base, pair in named.items():
        names = (base, *pair)
        uses = {forward.find_use(names) for forward in passes if forward.reads_any(names)}
        use = uses.pop() if len(uses) == 1 else None
        if use is None:
            raise WeightsError(
                say(
                    "The order's program does not apply the adapter of {0} as a sum of W x and B (A x) times one "
                    "factor, so a merged weight is not known to be the same model.",
                    repr(base),
                ),
                remedy=say("Ask for the weights as they were trained: base, A and B each by itself."),
            )
        found[base] = Adapter(*names, use.scale, use.turned)
    return found


def merged_weight(weight: Array, a: Array, b: Array, adapter: Adapter) -> tuple[Array, Array]:
    """Return W + scale B A and how far a merge in float32 may lie from it, both float64 of the shape of W.

    Let u = 2^-24, r the rank, g = (r + 2) u / (1 - (r + 2) u) and M = |scale| |B| |A|, element by element. A merge
    rounds the factor, r products and their sums in any order, with or without fused operations, the product with the
    factor, and the sum with W; so (Higham 2002, section 3.1) what it gives lies within u |W + scale B A| + (1 + u) g M
    of the exact value, and (2r + 3) 2^-126 (1 + |scale|) more where results are subnormal or flushed. The exact value
    is computed here in float64: products of two float32 numbers are exact in it, and the r + 2 other roundings are
    within (r + 4) 2^-52 (|W| + M), which is added.

    Args:
        weight: W, float32 ``[out, in]``.
        a: A, float32 ``[r, in]``.
        b: B, float32 ``[out, r]``.
        adapter: Their scale, and which of them lie the other way round.

    Raises:
        WeightsError: The shapes do not fit each other.
    """
    down = a if not adapter.turned[1] else a.T  # [r, in]
    up = b if not adapter.turned[2] else b.T  # [out, r]
    flat = weight.T if adapter.turned[0] else weight  # [out, in]
    if not (down.ndim == up.ndim == flat.ndim == 2 and flat.shape == (up.shape[0], down.shape[1])) or (
        up.shape[1] != down.shape[0]
    ):
        raise WeightsError(
            say("The adapter of {0} has shapes that do not fit it.", repr(adapter.base)),
            remedy=say("Ask for the weights as they were trained: base, A and B each by itself."),
        )
    rank = down.shape[0]
    wide, scale = flat.astype(np.float64), abs(adapter.scale)
    exact = wide + adapter.scale * (up.astype(np.float64) @ down.astype(np.float64))
    size = scale * (np.abs(up).astype(np.float64) @ np.abs(down).astype(np.float64))
    growth = (rank + 2) * _UNIT / (1 - (rank + 2) * _UNIT)
    bound = _UNIT * np.abs(exact) + (1 + _UNIT) * growth * size + (2 * rank + 3) * _FLUSHED * (1 + scale)
    bound += (rank + 4) * _FINER * (np.abs(wide) + size)
    return (exact.T, bound.T) if adapter.turned[0] else (exact, bound)
