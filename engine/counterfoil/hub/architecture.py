"""Which class of transformers loads the tensors of a run, under which names, and what ``config.json`` must say for it.

The class is made of the configuration without memory for its weights, and its names and shapes are compared with the
run's: what then is written is what ``from_pretrained`` asks for. No code of the model's folder is run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import torch

from counterfoil.base.foreignerrors import describe_error, text_of, theirs
from counterfoil.training.huggingface.library import library, offline
from counterfoil.training.huggingface.sizes import check_held
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.sentence import joined, say

Shapes = Mapping[str, tuple[int, ...]]
_WHAT = "A folder for a model hub"
_TASKS = (
    "CAUSAL_LM", "SEQUENCE_CLASSIFICATION", "TOKEN_CLASSIFICATION", "QUESTION_ANSWERING", "MASKED_LM",
    "SEQ_TO_SEQ_CAUSAL_LM", "MULTIPLE_CHOICE", "IMAGE_CLASSIFICATION",
)  # fmt: skip
"""The classes that are tried where the run's tensors are not those of the class that the configuration names."""
_SHOWN = 3
_DEEPEST = 8
"""Levels of a client's modules around the model that are looked through."""
_REMEDY = say(
    "Give with --from the folder of the model as it was trained: where it was made, write its configuration with "
    "model.config.save_pretrained(folder)."
)


@dataclass(frozen=True)
class Architecture:
    """A class of transformers whose tensors are those of a run."""

    name: str  #: The class.
    prefix: str  #: What the run's names begin with and those of the class do not.
    names: Mapping[str, str]  #: The names in the files, each with the run's name of the tensor.
    tied: Mapping[str, str]  #: Second names that the class ties by itself, each with the name in the files.
    config: Mapping[str, Any]  #: What ``config.json`` says.
    changes: tuple[str, ...]  #: What of it is not as it was, in words.


@dataclass(frozen=True)
class _Expected:
    """What a class asks for: its tensors' shapes by name, and for each second name of a tied one the first."""

    shapes: Shapes
    tied: Mapping[str, str]

    def first(self, name: str) -> str:
        """The first name of a tensor."""
        return self.tied.get(name, name)


@dataclass(frozen=True)
class _Misfit:
    """Why a class does not fit a run, and in how many tensors."""

    differing: int
    why: str


def find_architecture(config: Mapping[str, Any], run: Shapes, tied: Mapping[str, str]) -> Architecture:
    """Find the class whose tensors a run holds: the one that its configuration names, or another for the same model.

    Args:
        config: What ``config.json`` says.
        run: The shapes of the run's tensors by name, second names left out.
        tied: Second names of tied tensors, each with the run's own name.

    Raises:
        DataError: The library is not installed, the configuration is none of its own models', or no class fits.
    """
    if "quantization_config" in config:
        raise DataError(
            say("The model's config.json is that of a quantised model, and the run's weights are not quantised."),
            remedy=_REMEDY,
        )
    check_held(config, len(run) + len(tied), sum(prod(shape) for shape in run.values()))
    library("transformers", _WHAT)
    misfits: list[_Misfit] = []
    with offline():
        for kind in _classes(config):
            for prefix in _prefixes(run):
                short = {name.removeprefix(prefix): shape for name, shape in run.items()}
                second = {name.removeprefix(prefix): of.removeprefix(prefix) for name, of in tied.items()}
                fitted = _fitted(kind, config, short, second)
                if isinstance(fitted, Architecture):
                    names = {name: f"{prefix}{of}" for name, of in fitted.names.items()}
                    return Architecture(fitted.name, prefix, names, fitted.tied, fitted.config, fitted.changes)
                misfits.append(fitted)
    raise DataError(min(misfits, key=lambda misfit: misfit.differing).why, remedy=_REMEDY)


def _classes(config: Mapping[str, Any]) -> Iterator[Any]:
    """The class that a configuration names, then those of the same model for other tasks."""
    transformers = library("transformers", _WHAT)
    auto = library("transformers.models.auto.modeling_auto", _WHAT)
    kind = type(_configuration(config))
    named = config.get("architectures")
    seen = set()
    for name in named if isinstance(named, list) else ():
        found = getattr(transformers, str(name), None)
        ours = isinstance(found, type) and issubclass(found, transformers.PreTrainedModel)
        if ours and getattr(found, "config_class", None) is kind:
            seen.add(found)
            yield found
    for mapping in (*(getattr(auto, f"MODEL_FOR_{task}_MAPPING") for task in _TASKS), auto.MODEL_MAPPING):
        found = mapping.get(kind, None)
        if isinstance(found, type) and found not in seen:
            seen.add(found)
            yield found
    if not seen:
        raise DataError(
            say("The library transformers has no model for the configuration {0}.", kind.__name__), remedy=_REMEDY
        )


def _configuration(config: Mapping[str, Any]) -> Any:
    mapping = library("transformers.models.auto.configuration_auto", _WHAT).CONFIG_MAPPING
    kind = config.get("model_type")
    if not isinstance(kind, str) or kind not in mapping:
        raise DataError(
            say("The model's config.json names the kind {0}, which transformers does not have.", repr(kind)[:60]),
            remedy=say("Code of a model's own is not run. Take a model of transformers' own classes."),
        )
    try:
        return mapping[kind].from_dict(dict(config))
    except BaseException as error:
        raise _not_made(kind, error) from error


def _fitted(kind: Any, config: Mapping[str, Any], run: Shapes, tied: Mapping[str, str]) -> Architecture | _Misfit:
    """A class as it fits a run; or why it does not."""
    expected = _expected(kind, config)
    groups = {expected.first(name) for name in run} | tied.keys()
    missing = sorted(name for name in expected.shapes if groups.isdisjoint((name, expected.first(name))))
    surplus = sorted(name for name in run if name not in expected.shapes)
    if missing or surplus:
        lacks = say("it lacks {0}", ", ".join(map(repr, missing[:_SHOWN]))) if missing else ""
        has = say("it has {0} beside them", ", ".join(map(repr, surplus[:_SHOWN]))) if surplus else ""
        what = joined(lacks, has, between=", ")
        return _Misfit(
            len(missing) + len(surplus),
            say("The run does not hold the tensors of a {0} by config.json: {1}.", kind.__name__, what),
        )
    apart = sorted(name for name, first in expected.tied.items() if name in run and first in run)
    if apart:
        names = repr(apart[0]), repr(expected.tied[apart[0]])
        return _Misfit(
            len(apart),
            say("By config.json a {0} ties {1} to {2}, which the run holds as two.", kind.__name__, names[0], names[1]),
        )
    changed = dict(config)
    changes: list[str] = []
    other = [name for name in run if run[name] != expected.shapes[name]]
    if other and (labels := _labels(run, expected, config, other)):
        changed |= _labelled(labels)
        changes.append(say("it has {0} labels, as many as the run", labels))
        expected = _expected(kind, changed)
        other = [name for name in run if run[name] != expected.shapes[name]]
    if other:
        asked, held = str(list(expected.shapes[other[0]])), str(list(run[other[0]]))
        return _Misfit(
            len(other),
            say(
                "By config.json the tensor {0} of a {1} has the shape {2}, and in the run {3}.",
                repr(other[0]),
                kind.__name__,
                asked,
                held,
            ),
        )
    # What the run ties and the class does not, is written under each of its names.
    again = {
        name: of for name, of in tied.items() if name in expected.shapes and expected.first(name) != expected.first(of)
    }
    second = {name: of for name, of in tied.items() if name in expected.shapes and name not in again}
    changes += _settle(changed, kind.__name__)
    return Architecture(kind.__name__, "", {name: name for name in run} | again, second, changed, tuple(changes))


def _settle(config: dict[str, Any], name: str) -> list[str]:
    """Let a configuration name the class and the dtype that were written; returns what was changed, in words."""
    changes: list[str] = []
    if config.get("architectures") != [name]:
        config["architectures"] = [name]
        changes.append(say("it names the class {0}", name))
    if _retype(config):
        changes.append(say("its dtype is float32, as the run's weights"))
    if config.pop("_name_or_path", None):
        changes.append(say("a path is taken out"))
    return changes


def _retype(config: dict[str, Any]) -> bool:
    """Let a configuration, and those within it, name float32; else ``from_pretrained`` would round the weights."""
    changed = False
    for name, value in config.items():
        if isinstance(value, dict):
            changed |= _retype(value)
        elif name in ("dtype", "torch_dtype") and value != "float32":
            config[name], changed = "float32", True
    return changed


def _labels(run: Shapes, expected: _Expected, config: Mapping[str, Any], other: list[str]) -> int:
    """How many labels a run's head has, where this is all that is different; 0 else."""
    had = _configuration(config).num_labels
    counts = {run[name][0] for name in other if run[name]}
    same = all(run[name][1:] == expected.shapes[name][1:] and expected.shapes[name][:1] == (had,) for name in other)
    return counts.pop() if same and len(counts) == 1 else 0


def _labelled(count: int) -> dict[str, Any]:
    """The labels as transformers calls them where nobody gave them names."""
    names = [f"LABEL_{number}" for number in range(count)]
    return {
        "id2label": {str(number): name for number, name in enumerate(names)},
        "label2id": {name: number for number, name in enumerate(names)},
    }


def _expected(kind: Any, config: Mapping[str, Any]) -> _Expected:
    """The tensors of a class, made without memory for them."""
    try:
        with torch.device("meta"):
            model = kind(_configuration(config))
    except DataError:
        raise
    except BaseException as error:
        raise _not_made(kind.__name__, error) from error
    first: dict[int, str] = {}
    shapes, tied = {}, {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        shapes[name] = tuple(tensor.shape)
        if first.setdefault(id(tensor), name) != name:
            tied[name] = first[id(tensor)]
    return _Expected(shapes, tied)


def _not_made(what: str, error: BaseException) -> DataError:
    return DataError(
        say("The library transformers cannot make a {0} by config.json: {1}.", what, describe_error(theirs(error))),
        remedy=_REMEDY,
        detail=text_of(error),
    )


def _prefixes(run: Shapes) -> list[str]:
    """What the names of a run may begin with that is not the model's: nothing, or dotted heads that most of them have.

    What does not begin so is none of the model's tensors then, and is said to be too much.
    """
    prefixes = [""]
    for _ in range(_DEEPEST):
        inner = [name.removeprefix(prefixes[-1]) for name in run if name.startswith(prefixes[-1])]
        heads = Counter(name.partition(".")[0] for name in inner if "." in name).most_common(1)
        if not heads or 2 * heads[0][1] <= len(run):
            break
        head = heads[0][0]
        prefixes.append(f"{prefixes[-1]}{head}.")
    return prefixes
