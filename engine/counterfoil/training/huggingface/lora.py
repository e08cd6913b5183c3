"""Low-rank adapters (Hu et al. 2022) by the library peft: few new weights learn, those of the model stay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from counterfoil.base.errors import DataError
from counterfoil.training.huggingface.library import library

_EXAMPLE = "Write for instance r=8, or r=8,alpha=16,dropout=0.05,modules=q_proj+v_proj."


@dataclass(frozen=True)
class Lora:
    """Low-rank adapters.

    Attributes:
        r: Their rank.
        alpha: Their result counts ``alpha / r``; twice the rank unless given.
        dropout: Dropout of what they read.
        modules: Names, or ends of names, of the modules that receive one; peft's choice for the model unless given.
    """

    r: int
    alpha: float | None = None
    dropout: float = 0.0
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


def add_adapters(model: Any, lora: Lora, *, classifies: bool) -> Any:
    """Return a model with adapters, in which the model's own weights require no gradient.

    Args:
        model: A model of transformers; it is changed.
        lora: The adapters.
        classifies: Whether it is a classifier, whose head learns as well.

    Raises:
        DataError: peft is not installed, or knows no place for them in this model.
    """
    peft = library("peft", "An adapter")
    alpha = 2 * lora.r if lora.alpha is None else lora.alpha
    try:
        settings = peft.LoraConfig(
            task_type="SEQ_CLS" if classifies else "CAUSAL_LM",
            r=lora.r,
            lora_alpha=alpha,
            lora_dropout=lora.dropout,
            target_modules=list(lora.modules) or None,
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


def _is_linear(part: Any) -> bool:
    return type(part).__name__ in ("Linear", "Conv1D")
