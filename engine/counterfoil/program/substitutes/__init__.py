"""Functions of torch whose own code looks at values of tensors, as functions that do not.

While a step is captured tensors have no values, so a function that checks them, or chooses shapes by them, would end
the capture. Each of these stands in the place of one and computes the same by fixed shapes; its gradients follow from
its operators. Where a step is not what was assumed of it, its loss is infinite, and a recording stops there
(:mod:`counterfoil.program.decisions`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor
from torch.overrides import TorchFunctionMode

from counterfoil.program.substitutes import assumptions, ctc, masks, products, quantiles, sequences

Substitute = Callable[..., Any]
_TABLE: Mapping[Any, Substitute] = {
    **assumptions.TABLE,
    **ctc.TABLE,
    **masks.TABLE,
    **sequences.TABLE,
    **products.TABLE,
    **quantiles.TABLE,
}


class Substitutes(TorchFunctionMode):
    """While active, the functions of the table compute without looking at values.

    Args:
        step: The step that is being captured.
    """

    def __init__(self, step: assumptions.StepInCapture) -> None:
        super().__init__()
        self._step = step

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Replace a function of the table; pass on every other call."""
        named = kwargs or {}
        with assumptions.capture_scope(self._step):
            substitute = _TABLE.get(func)
            if substitute is not None:
                found = substitute(*args, **named)
                if found is not NotImplemented:
                    return found
            masks.check_selected(func, args)
            answer = assumptions.answer(func, args)
            if answer is not None:
                return answer
            result = sequences.mark_rows(func, args, func(*args, **named))
            return assumptions.note_answer(func, args, result) if isinstance(result, Tensor) else result
