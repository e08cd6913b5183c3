"""Low-rank adapters (Hu et al. 2022) by the library peft: few new weights learn, those of the model stay."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import torch

from counterfoil.training.huggingface.library import library
from counterfoil_core.base.errors import DataError

_EXPERTS = ".experts"
"""What transformers calls a mixture's experts, be they modules or parameters of three axes."""
_STATE_SPACE = "mamba"
_NOT_IN_STATE_SPACE = ("out_proj",)
"""Layers of models whose type says so, of which kernels read the weight by itself; peft refuses them."""
_EXAMPLE = "Write for instance r=8, or r=8,alpha=16,dropout=0.05,modules=q_proj+v_proj."


@dataclass(frozen=True)
class Lora:
    """Low-rank adapters."""

    r: int  #: Their rank.
    alpha: float | None = None  #: Their result counts ``alpha / r``; twice the rank unless given.
    dropout: float = 0.0  #: Dropout of what they read.
    #: Names, or ends of names, of the modules that receive one. Unless given it is peft's choice for the model; where
    #: it has none, every linear layer of the model's body that its forward pass calls, in a mixture of experts those of
    #: attention alone.
    modules: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        scale = 1.0 if self.alpha is None else self.alpha
        if self.r < 1 or not 0 < scale < 1e6 or not 0 <= self.dropout < 1:
            raise DataError(
                f"Adapters of rank {self.r}, alpha {scale:g} and dropout {self.dropout:g} cannot be made.",
                remedy="The rank is at least 1, alpha above 0, dropout from 0 to below 1.",
            )


def parse_lora(text: str) -> Lora:
    """Read ``r=8,alpha=16,dropout=0.05,modules=q_proj+v_proj``, of which all but r may be left out.

    Raises:
        DataError: It is not so written.
    """
    given: dict[str, str] = {}
    for part in text.split(","):
        name, _, value = part.strip().partition("=")
        if name not in ("r", "alpha", "dropout", "modules") or not value or name in given:
            raise DataError(f"The setting {part.strip()!r} of the adapters is not known.", remedy=_EXAMPLE)
        given[name] = value
    try:
        return Lora(
            r=int(given["r"]),
            alpha=float(given["alpha"]) if "alpha" in given else None,
            dropout=float(given.get("dropout", "0")),
            modules=tuple(given["modules"].split("+")) if "modules" in given else (),
        )
    except (KeyError, ValueError) as error:
        raise DataError(f"The adapters {text!r} have no rank, or one that is no number.", remedy=_EXAMPLE) from error


def add_adapters(model: Any, lora: Lora, *, task: str | None, heads: Collection[str], run: Callable[[Any], Any]) -> Any:
    """Return a model with adapters, in which the model's own weights require no gradient.

    Args:
        model: A model of transformers; it is changed.
        lora: The adapters.
        task: What peft calls the task; None where it has no name for what the model reads.
        heads: The modules that learn as well.
        run: Calls the model with a row of the data.

    Raises:
        DataError: peft is not installed, or knows no place for them in this model.
    """
    peft = library("peft", "An adapter")
    alpha = 2 * lora.r if lora.alpha is None else lora.alpha
    try:
        settings = peft.LoraConfig(
            task_type=task,
            r=lora.r,
            lora_alpha=alpha,
            lora_dropout=lora.dropout,
            target_modules=list(lora.modules) or _places(model, run),
            modules_to_save=sorted(heads) or None,
        )
        return peft.get_peft_model(model, settings)
    except ValueError as error:
        layers = sorted({name.rpartition(".")[2] for name, part in model.named_modules() if _is_linear(part)})
        raise DataError(
            f"The library peft cannot place adapters: {str(error).partition('. ')[0]}.",
            remedy=f"Name the modules, as in --lora r={lora.r},modules={'+'.join(layers[:2]) or 'NAME'}. The model "
            f"has: {', '.join(layers)}.",
            detail=str(error),
        ) from error


def adapter_places(model: Any) -> tuple[str, ...]:
    """The last names of the modules that have an adapter."""
    names = (name.partition(".lora_A.")[0] for name, _ in model.named_parameters() if ".lora_A." in name)
    return tuple(dict.fromkeys(name.rpartition(".")[2] for name in names))


def _places(model: Any, run: Callable[[Any], Any]) -> list[str] | str | None:
    """The modules that receive an adapter where nobody named them."""
    kind = str(getattr(model.config, "model_type", ""))
    listed = library("peft.utils", "An adapter").TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING.get(kind)
    if isinstance(listed, str):
        return listed
    linear = {name: part for name, part in model.named_modules() if _is_linear(part)}
    if any(name.rpartition(".")[2] in (listed or ()) for name in linear):
        return list(listed)
    # What is not called, but has its weight read (Mamba's steps of time, torch's attention), would never reach its
    # adapter.
    called: set[int] = set()
    hooks = [part.register_forward_hook(lambda part, *_: called.add(id(part))) for part in linear.values()]
    training = model.training
    try:
        with torch.no_grad():
            run(model.eval())
    finally:
        model.train(training)
        for hook in hooks:
            hook.remove()
    called &= {id(part) for part in model.base_model.modules()} - {id(model.get_output_embeddings())}
    # In models that were mixtures before their experts became parameters peft takes the names of a block's own layers,
    # and of blocks without experts, for those of the experts. What chooses among them is no sum to be added to either.
    left = {name.split(".")[-2] for name, _ in model.named_modules() if name.endswith(_EXPERTS)}
    left |= set(_NOT_IN_STATE_SPACE if _STATE_SPACE in kind else ())
    return [name for name, part in linear.items() if id(part) in called and left.isdisjoint(name.split("."))] or None


def _is_linear(part: Any) -> bool:
    return type(part).__name__ in ("Linear", "Conv1D")
