"""What a step asks of tensors that have no values, answered by placeholders."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map

from counterfoil.base.foreignerrors import text_of
from counterfoil.program import validation, whereabouts
from counterfoil.program.asked import numbers
from counterfoil.program.asked.arrays import AskedArray, fill
from counterfoil.program.asked.numbers import (
    SHOWN,
    Asked,
    Kind,
    comes_back,
    current,
    decides_size,
    is_asked,
    kind_of,
    looks_up,
    placeholder_at,
)
from counterfoil.program.asked.plain import ORIGINALS, Again, PlainNames, nonsense, writes_text
from counterfoil.program.remedies import NoFormError

Policy = Callable[[str, Any], bool]
"""The truth of a value, by file and line at which Python asks for it, and its answer; None where nobody knows it."""
_PAIRS = {torch.equal, Tensor.equal, torch.allclose, Tensor.allclose}
_SINGLE = {torch.is_nonzero, Tensor.is_nonzero}
_NUMBERS: Mapping[Any, Kind] = {Tensor.__float__: float, Tensor.__int__: int, Tensor.__index__: int}
ASKING = frozenset({Tensor.item, Tensor.tolist, Tensor.__bool__, Tensor.__format__, *_NUMBERS, *_SINGLE, *_PAIRS})
"""Functions that Python calls for the value of a tensor: each of them asks once."""
MOST_LISTED = 4096
"""Elements of a list of numbers that may come back into a tensor."""
UNSUITABLE = (f"not {Asked.__name__}", "numpy.object_")
"""What functions that make tensors call placeholders; they look at their arguments before anybody else can."""


class AskedValues(TorchFunctionMode):
    """While active, values that are not known are placeholders.

    Args:
        policy: Answers where Python asks for the truth of one.
        names: The modules that make plain numbers of placeholders, which are found meanwhile.
        known: Whether the value of a tensor is known; it is asked then.
        hold: Lets the step end training where a truth value does not hold; None leaves that to the policy.
        stand_in: Makes the tensor that a placeholder is where it comes back into tensors; None refuses it there.
        answers: Returns the answer to what is asked at a file and line; None where nobody knows it.

    Attributes:
        refusal: The first refusal, also where the step's code swallowed it.
        again: Whether the step must be begun again, also where its code swallowed that.
    """

    def __init__(
        self,
        policy: Policy,
        names: PlainNames,
        *,
        known: Callable[[Tensor], bool],
        hold: Callable[[Tensor], None] | None = None,
        stand_in: Callable[[Asked], Tensor] | None = None,
        answers: Callable[[str], Any] = lambda _: None,
    ) -> None:
        super().__init__()
        self._policy = policy
        self._names = names
        self._known = known
        self._hold = hold
        self._stand_in = stand_in
        self._answers = answers
        self._entered = ExitStack()
        self.refusal: NoFormError | None = None
        self.again = False

    def __enter__(self) -> AskedValues:
        """Become who answers."""
        self._entered.enter_context(self._names.replaced())
        token = current.set(self)
        self._entered.callback(current.reset, token)
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        """Stop answering.

        Raises:
            Again: The step must be begun again.
            NoFormError: A placeholder is where it cannot be.
        """
        super().__exit__(kind, error, traceback)  # type: ignore[no-untyped-call]
        self._entered.close()
        made = isinstance(error, TypeError) and any(name in text_of(error) for name in UNSUITABLE)
        if made and self.refusal is None and not self.again:
            raise comes_back("").with_traceback(traceback) from error
        # The step's code may have swallowed what was raised, and gone on or failed for want of it.
        if self.again:
            raise Again
        if self.refusal is not None:
            raise self.refusal

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Answer what asks for values; refuse placeholders among the arguments; pass on every other call."""
        named = kwargs or {}
        if self._stand_in is None:
            self._refuse_asked(args, named)
        elif any(is_asked(item) or isinstance(item, AskedArray) for item in tree_leaves((args, named))):
            args, named = tree_map(self._tensor_of, (args, named))
        first = args[0] if args else None
        if isinstance(first, Tensor) and not self._known(first):
            found = self._answer(func, first, args)
            if found is not NotImplemented:
                return found
        elif func in ASKING and isinstance(first, Tensor):
            # A question like another, whose answer is known: those behind it at its line have answers of their own.
            for _ in range(min(first.numel(), MOST_LISTED) if func is Tensor.tolist else 1):
                self._answers(whereabouts.client_line())
        if named.get("dtype") in ORIGINALS:
            named = {**named, "dtype": ORIGINALS[named["dtype"]]}
        return func(*args, **named)

    def _answer(self, func: Any, tensor: Tensor, args: tuple[Any, ...]) -> Any:
        if func in (Tensor.numpy, Tensor.__array__):
            return fill(tensor.shape, _kind(tensor))
        if func is Tensor.__repr__:
            return f"tensor({SHOWN}, shape={tuple(tensor.shape)})"
        if func not in ASKING:
            return NotImplemented
        if func is Tensor.tolist:
            # As many answers as elements: so many are asked for where a tensor without values lists itself.
            count = tensor.numel()
            answers = [self._answers(whereabouts.client_line()) for _ in range(min(count, MOST_LISTED))]
            flat = self._value_of(tensor) if count <= MOST_LISTED else None
            return _listed(tensor.shape, placeholder_at(_kind(tensor)), answers, flat)
        answer = self._answers(whereabouts.client_line())
        if func is Tensor.item and tensor.numel() == 1:
            return placeholder_at(_kind(tensor), self._value_of(tensor), answer)
        if func is Tensor.__bool__ and tensor.numel() == 1:
            return self.truth(placeholder_at(bool, lambda: tensor.detach().reshape(()) != 0, answer))
        if func in _NUMBERS and tensor.numel() == 1:
            asked = placeholder_at(_kind(tensor), None, answer)
            if func is Tensor.__index__:
                raise self.refuse(decides_size(asked))
            return self.plain(asked, _NUMBERS[func])
        if func is Tensor.__format__ and not tensor.dim():
            return format(placeholder_at(float, None, answer), args[1])
        if func in _SINGLE:
            return placeholder_at(bool, lambda: tensor.detach().reshape(()) != 0, answer)
        if func in _PAIRS and isinstance(args[1], Tensor):
            same = func in (torch.equal, Tensor.equal) and tensor.shape == args[1].shape
            return placeholder_at(bool, (lambda: (tensor == args[1]).all()) if same else None, answer)
        return NotImplemented

    def _value_of(self, tensor: Tensor) -> Callable[[], Tensor]:
        """What makes a tensor of a value as it is now: where tensors stand for numbers, they may be changed later."""
        if self._stand_in is None:
            return lambda: tensor.detach() if tensor.numel() != 1 else tensor.detach().reshape(())
        copy = tensor.detach().clone()
        return lambda: copy if copy.numel() != 1 else copy.reshape(())

    def truth(self, asked: Asked) -> bool:
        """The truth of a placeholder: as a check wants it that ends training else, or by the policy."""
        check = validation.check_at(whereabouts.asking_frame())
        if check is not None and asked.answer is not None and bool(asked.answer) != check.passes:
            # Where it ran with values it did not pass.
            check = None
        made = asked.tensor
        if check is not None and not check.raises:
            return check.passes
        if check is not None and made is not None and self._hold is not None:
            self._hold((made() != 0) == check.passes)
            return check.passes
        return self._policy(whereabouts.client_line(), asked.answer)

    def plain(self, asked: Asked, kind: Kind) -> Any:
        """What a text shows of a placeholder; else the module that asks is taken in, or refused."""
        frame = whereabouts.plain_frame()
        if writes_text(frame):
            return float("nan") if kind is float else nonsense()
        if frame is not None and self._names.learn(frame):
            self.again = True
            raise Again
        raise self.refuse(_made_plain(asked))

    def as_tensor(self, asked: Asked) -> Tensor:
        """The tensor that a placeholder is where it meets one."""
        if self._stand_in is None:
            raise self.refuse(comes_back(asked.place))
        return self._stand_in(asked)

    def looked_up(self, asked: Asked) -> None:
        """Refuse it, unless tensors stand for placeholders: whoever has these watches what is done with them."""
        if self._stand_in is None:
            raise self.refuse(looks_up(asked))

    def refuse(self, error: NoFormError) -> NoFormError:
        """Keep a refusal, so that nobody can swallow it, and return it."""
        self.refusal = self.refusal or error
        return error

    def _tensor_of(self, item: Any) -> Any:
        assert self._stand_in is not None
        if isinstance(item, AskedArray):
            return torch.stack([self._stand_in(part) for part in item.reshape(-1)]).reshape(item.shape)
        return self._stand_in(item) if is_asked(item) else item

    def _refuse_asked(self, args: Any, named: Any) -> None:
        for item in tree_leaves((args, named)):
            if is_asked(item):
                raise self.refuse(comes_back(item.place))
            if isinstance(item, AskedArray):
                raise self.refuse(comes_back(item.reshape(-1)[0].place))


def _made_plain(asked: Asked) -> NoFormError:
    return NoFormError(
        "decides by the values of a tensor, which a program cannot: a value of this step, asked for at "
        f"{asked.place or 'a place unknown'}, is made a plain number",
        remedy=numbers.REMEDY,
    )


def _kind(tensor: Tensor) -> Kind:
    if tensor.dtype is torch.bool:
        return bool
    return float if tensor.is_floating_point() else int


def _listed(
    shape: Sequence[int], item: Asked, answers: Sequence[Any], values: Callable[[], Tensor] | None, first: int = 0
) -> Any:
    """Placeholders for the elements of a tensor, nested as its axes; each is a tensor where it comes back."""
    if not shape:
        tensor = None if values is None else lambda: values().reshape(-1)[first]
        return item.made(kind_of(item), tensor, answers[first] if first < len(answers) else None)
    size = math.prod(shape[1:])
    return [_listed(shape[1:], item, answers, values, first + n * size) for n in range(shape[0])]
