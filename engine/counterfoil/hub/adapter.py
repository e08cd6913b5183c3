"""The adapters of a run as the library PEFT keeps them: their names in its file, and what its configuration says.

Rank and factor come from the run's tensors and its order's program, as everything that is known of adapters does.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from counterfoil.delivery.adapters import WRAPPER, Adapter, adapter_file_name, adapter_names, find_adapters
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.sentence import say
from counterfoil_core.program.graph import Program

_HEAD = ".modules_to_save."
_TASKS = {
    "ForCausalLM": "CAUSAL_LM",
    "LMHeadModel": "CAUSAL_LM",
    "ForConditionalGeneration": "SEQ_2_SEQ_LM",
    "ForSequenceClassification": "SEQ_CLS",
    "ForTokenClassification": "TOKEN_CLS",
    "ForQuestionAnswering": "QUESTION_ANS",
}
"""What PEFT calls a task, by the end of the name of a class of transformers."""
_CLASSIFY = ("SEQ_CLS", "TOKEN_CLS")


@dataclass(frozen=True)
class PeftFiles:
    """What PEFT's two files hold."""

    prefix: str  #: What the run's names begin with and PEFT's do not.
    names: Mapping[str, str]  #: The names in the file of tensors, each with the run's own name.
    config: Mapping[str, Any]  #: What ``adapter_config.json`` says.


def is_adapted(saved: Collection[str]) -> bool:
    """Whether tensors are those of a model with adapters, by the names that PEFT gives."""
    return any(WRAPPER in name and ".lora_" in name for name in saved)


def peft_files(
    saved: Mapping[str, str], programs: Sequence[Program], ranks: Mapping[str, int], classes: Sequence[str], base: str
) -> PeftFiles:
    """Return what PEFT's files hold.

    Args:
        saved: The names of the run's tensors, each with that of the state tensor.
        programs: The order's programs, which say what training changed, and how adapters are applied.
        ranks: For each ``lora_A`` of the run its first length.
        classes: The classes that the adapted model's configuration names.
        base: Under which name others find the model that was adapted; empty where nobody said.

    Raises:
        DataError: Training changed what is no adapter and no head that PEFT keeps.
        WeightsError: How the step applies an adapter cannot be told.
    """
    pairs = adapter_names(saved)
    adapters = find_adapters(programs, pairs)
    first = next(name for name in sorted(saved) if ".lora_" in name)
    prefix = first.partition(WRAPPER)[0]
    updated = {name for program in programs for name in program.updates}
    adapting = {name for pair in pairs.values() for name in pair}
    names = {}
    for name, of in saved.items():
        if name in adapting or _HEAD in name:
            names[adapter_file_name(name).removeprefix(prefix)] = name
        elif not updated.isdisjoint((name, of)):
            raise DataError(
                say("Training changed {0}, which is neither an adapter nor a head that PEFT keeps.", repr(name)),
                remedy=say("Write the tensors under their own names, with: counterfoil export RUN --safetensors DIR."),
            )
    heads = sorted({name.partition(_HEAD)[0].rpartition(".")[2] for name in saved if _HEAD in name})
    settings = _config(prefix, adapters, ranks)
    settings |= {"task_type": _task(classes, heads), "modules_to_save": heads or None}
    return PeftFiles(prefix, names, settings | {"base_model_name_or_path": base or None})


def _task(classes: Sequence[str], heads: Sequence[str]) -> str | None:
    """What PEFT calls the task; None where that is not known. A head that was added to another model classifies."""
    task = next((task for name in classes for end, task in _TASKS.items() if name.endswith(end)), None)
    return "SEQ_CLS" if heads and task not in _CLASSIFY else task


def _config(prefix: str, adapters: Mapping[str, Adapter], ranks: Mapping[str, int]) -> dict[str, Any]:
    settings = {}
    for name, adapter in adapters.items():
        module = name.removeprefix(f"{prefix}{WRAPPER}").removesuffix(".weight").removesuffix(".base_layer")
        rank = ranks[adapter.a]
        settings[module] = (rank, *_alpha(adapter.scale, rank, module))
    rank, alpha, rooted = next(iter(settings.values()))
    if any(other[2] != rooted for other in settings.values()):
        raise DataError(say("The run's adapters count by two rules, which PEFT's file cannot say."))
    return {
        "peft_type": "LORA",
        "inference_mode": True,
        "r": rank,
        "lora_alpha": alpha,
        "lora_dropout": 0.0,
        "bias": "none",
        "use_rslora": rooted,
        "fan_in_fan_out": all(adapter.turned[0] for adapter in adapters.values()),
        "target_modules": sorted(settings),
        "rank_pattern": {module: own[0] for module, own in sorted(settings.items()) if own[0] != rank},
        "alpha_pattern": {module: own[1] for module, own in sorted(settings.items()) if own[1] != alpha},
    }


def _alpha(scale: float, rank: int, module: str) -> tuple[float, bool]:
    """PEFT's alpha whose quotient by the rank, or by its root, is the factor bit for bit; and whether by the root."""
    for rooted, divisor in ((False, float(rank)), (True, math.sqrt(rank))):
        exact = scale * divisor
        for alpha in (float(round(exact)), exact, math.nextafter(exact, 0.0), math.nextafter(exact, math.inf)):
            if alpha / divisor == scale:
                return (int(alpha) if alpha.is_integer() else alpha), rooted
    raise DataError(say("The adapter of {0} counts by {1}, which PEFT's file cannot say.", module, repr(scale)))
