"""What of a Trainer of transformers cannot be ordered, by name; and callbacks that end a training."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import CodeType
from typing import Any

from counterfoil.program.whereabouts import in_brackets
from counterfoil_core.base.errors import DataError

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
    return [f"Callbacks are not carried out, as they are no part of a step: {names}."] if own else []


def _check_overridden(trainer: Any) -> None:
    for name in _OWN_LOOPS:
        function = getattr(type(trainer), name, None)
        if function is not None and function.__module__.split(".")[0] not in _LIBRARIES:
            raise DataError(
                f"{type(trainer).__name__} has a training loop of its own, {name}{in_brackets(place_of(function))}.",
                remedy="Say what it does with counterfoil.loop, or as a counterfoil.CustomJob.",
            )


def _check_callback(callback: Any) -> None:
    kind = type(callback)
    if kind.__name__ == "DefaultFlowCallback":
        return
    names = {base.__name__ for base in kind.__mro__}
    if names & set(_CHANGE_WEIGHTS):
        raise changes_training(f"The callback {kind.__name__}")
    check_stops(kind, _STOPS, ("TrainerCallback",), "control")


def changes_training(what: str) -> DataError:
    """Return the refusal of something that changes a model, or how it is trained, between steps."""
    return DataError(f"{what} changes what is trained between the steps, and {_BEFOREHAND}.", remedy="Leave it out.")


def check_stops(kind: type, attributes: frozenset[str], up_to: Collection[str], owner: str) -> None:
    """Check that a callback sets nothing that ends the training.

    Args:
        kind: Its class.
        attributes: What ends a training when it is set.
        up_to: Names of the library's base classes, which are not looked at.
        owner: What has these attributes, in words.

    Raises:
        DataError: It does; the message names the callback and the place.
    """
    for function in _functions(kind, up_to):
        stored = _stored(function.__code__, attributes)
        if stored:
            raise DataError(
                f"The callback {kind.__name__} sets {owner}.{min(stored)}{in_brackets(place_of(function))}, and "
                f"{_BEFOREHAND}.",
                remedy="Leave the callback out, and order as many steps as are wanted (--max-steps); which of the "
                "stored states is best can be chosen afterwards.",
            )


def _functions(kind: type, up_to: Collection[str]) -> Iterator[Any]:
    """The functions of a class, inherited ones too, up to those of the library's base classes."""
    for base in kind.__mro__:
        if base is object or base.__name__ in up_to:
            continue
        for item in vars(base).values():
            function = inspect.unwrap(item.__func__ if isinstance(item, (staticmethod, classmethod)) else item)
            if inspect.isfunction(function):
                yield function


def _stored(code: CodeType, attributes: frozenset[str]) -> set[str]:
    """Those of some attributes that code sets, in functions within it too."""
    found = {str(i.argval) for i in dis.get_instructions(code) if i.opname == "STORE_ATTR"} & attributes
    # setattr(control, "should_training_stop", True)
    found |= {constant for constant in code.co_consts if isinstance(constant, str)} & attributes
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _stored(constant, attributes)
    return found


def place_of(function: Any) -> str:
    """Return where a function is written."""
    return f"{function.__code__.co_filename}, line {function.__code__.co_firstlineno}"
