"""What of a Trainer cannot be ordered, by name."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType
from typing import Any

from counterfoil.base.errors import DataError
from counterfoil.program.whereabouts import in_brackets

_STOPS = frozenset({"should_training_stop", "should_epoch_stop"})
"""What of a Trainer's ``control`` changes the training."""
_CHANGE_WEIGHTS = ("SyncRefModelCallback", "BEMACallback", "SyncTeacherModelCallback", "PEFTAdapterEMACallback")
"""Callbacks of TRL that change a model while it is trained."""
_LIBRARIES = ("transformers", "trl", "accelerate", "peft")
_OWN_LOOPS = ("_inner_training_loop", "_run_epoch")
_BEFOREHAND = "an order says beforehand what is done in each step"


def check_trainer(trainer: Any, arguments: Sequence[Any], settings: Mapping[str, Any]) -> None:
    """Check that the training of a Trainer can be ordered.

    Args:
        trainer: The Trainer.
        arguments: What ``train`` was called with.
        settings: The same, by name.

    Raises:
        DataError: Something in it cannot; the message names it.
    """
    args = trainer.args
    if (arguments[0] if arguments else settings.get("resume_from_checkpoint")) not in (None, False):
        raise DataError(
            "The script resumes a training from a checkpoint (resume_from_checkpoint); an order begins at its own "
            "first step.",
            remedy="Load the weights of the checkpoint as the model's, and leave resume_from_checkpoint out.",
        )
    if settings.get("trial") is not None or (len(arguments) > 1 and arguments[1] is not None):
        raise DataError(
            "The script searches for hyperparameters.", remedy="Search first, and order the training that was found."
        )
    if getattr(args, "load_best_model_at_end", False):
        raise DataError(
            "The script takes the best of its checkpoints in the end (load_best_model_at_end); what is delivered of an "
            "order is the state after its last step.",
            remedy="Leave it out, and choose with 'counterfoil export --step' among the states that the run stores.",
        )
    for name, words in (("deepspeed", "DeepSpeed"), ("fsdp", "FSDP")):
        if getattr(args, name, None):
            raise DataError(
                f"The script trains with {words}, which spreads a model over machines.",
                remedy=f"Leave {name} out: an order says what is computed, and the trainer chooses on what.",
            )
    if int(getattr(args, "world_size", 1)) > 1:
        raise DataError(
            f"The script runs as one of {args.world_size} processes.",
            remedy=f"Run it alone, and give it {args.world_size} times the batch, or accumulate as many gradients.",
        )
    if hasattr(trainer, "_generate_and_score_completions"):
        raise DataError(
            f"{type(trainer).__name__} draws its data from the model while it trains it, and {_BEFOREHAND}.",
            remedy="Order one round: sample with the model as it is, and train on what was sampled.",
        )
    _check_overridden(trainer)
    for callback in trainer.callback_handler.callbacks:
        _check_callback(callback)


def callback_notes(trainer: Any) -> list[str]:
    """Return a sentence on the callbacks of the script's own, which are left out."""
    own = [c for c in trainer.callback_handler.callbacks if type(c).__module__.split(".")[0] not in _LIBRARIES]
    names = ", ".join(dict.fromkeys(type(callback).__name__ for callback in own))
    return [f"Callbacks are left out, as they change no step: {names}."] if own else []


def _check_overridden(trainer: Any) -> None:
    for name in _OWN_LOOPS:
        function = getattr(type(trainer), name, None)
        if function is not None and function.__module__.split(".")[0] not in _LIBRARIES:
            raise DataError(
                f"{type(trainer).__name__} has a training loop of its own, {name}{in_brackets(_place(function))}.",
                remedy="Say what it does with counterfoil.loop, or as a counterfoil.CustomJob.",
            )


def _check_callback(callback: Any) -> None:
    kind = type(callback)
    if kind.__name__ == "DefaultFlowCallback":
        return
    names = {base.__name__ for base in kind.__mro__}
    if names & set(_CHANGE_WEIGHTS):
        raise DataError(
            f"The callback {kind.__name__} changes a model while it is trained, which is no part of a step.",
            remedy="Leave it out.",
        )
    for function in _functions(kind):
        stored = _stored(function.__code__) & _STOPS
        if stored:
            raise DataError(
                f"The callback {kind.__name__} sets control.{min(stored)}{in_brackets(_place(function))}, and "
                f"{_BEFOREHAND}.",
                remedy="Leave the callback out, and order as many steps as are wanted (--max-steps); which of the "
                "stored states is best can be chosen afterwards.",
            )


def _functions(kind: type) -> Iterator[Any]:
    """The functions of a class, inherited ones too, up to those of the library's base class."""
    for base in kind.__mro__:
        if base.__name__ in ("TrainerCallback", "object"):
            continue
        for item in vars(base).values():
            function = inspect.unwrap(item.__func__ if isinstance(item, (staticmethod, classmethod)) else item)
            if inspect.isfunction(function):
                yield function


def _stored(code: CodeType) -> set[str]:
    """The attributes that code sets, in functions within it too."""
    found = {str(i.argval) for i in dis.get_instructions(code) if i.opname == "STORE_ATTR"}
    found |= {constant for constant in code.co_consts if isinstance(constant, str)} & _STOPS  # setattr(control, ...)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _stored(constant)
    return found


def _place(function: Any) -> str:
    return f"{function.__code__.co_filename}, line {function.__code__.co_firstlineno}"
