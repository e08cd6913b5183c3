"""Functions of torch whose own code looks at values of tensors, as functions that do not.

While a step is captured tensors have no values, so a function that checks them, or chooses shapes by them, would end
the capture. Each of these stands in the place of one and computes the same by fixed shapes; its gradients follow from
its operators. What a check would have refused, or a choice would have done otherwise, makes the loss of that step not a
number, and a recording stops there (:mod:`counterfoil.program.substitutes.assumed`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from torch import Tensor
from torch.overrides import TorchFunctionMode

from counterfoil.program.substitutes import assumed, losses, masks, packed, products, settled
from counterfoil.program.substitutes.assumed import Assumptions

Substitute = Callable[..., Any]
_TABLE: Mapping[Any, Substitute] = {
    **assumed.TABLE,
    **losses.TABLE,
    **masks.TABLE,
    **packed.TABLE,
    **products.TABLE,
}


class Substitutes(TorchFunctionMode):
    """While active, the functions of the table compute without looking at values.

    Args:
        assumptions: Collects what the step was captured under.
        own: Addresses of the memory of the model's own tensors.
    """

    def __init__(self, assumptions: Assumptions, own: Collection[int]) -> None:
        super().__init__()
        self._assumptions = assumptions
        self._own = own

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Replace a function of the table; pass on every other call."""
        named = kwargs or {}
        known = settled.settled(func, args, named, self._own)
        if known is not NotImplemented:
            return known
        args = settled.with_known_places(func, args)
        with assumed.collecting(self._assumptions):
            substitute = _TABLE.get(func)
            if substitute is not None:
                found = substitute(*args, **named)
                if found is not NotImplemented:
                    return found
            answer = assumed.answer(func, args)
            if answer is not None:
                return answer
            result = packed.finish(func, args, func(*args, **named))
            return assumed.noted(func, args, result) if isinstance(result, Tensor) else result
