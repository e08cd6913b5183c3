"""A language model out of a folder, and the program of a pass: logits of some tokens, beside keys and values of all.

A pass for one token and a pass for all are the same function of the same length of keys, so that sums have as many
terms in both. Where the result of a row hangs on no other row, which a profile for rows gives, they have the same bits.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from counterfoil.program.capture import CapturedStep, capture
from counterfoil.program.update.rule import NothingTrained
from counterfoil.training.finetuning import Task
from counterfoil.training.huggingface.folder import TOKENIZER, ModelFolder, read_folder
from counterfoil.training.huggingface.library import library, offline
from counterfoil.training.huggingface.loading import TOKENS, failing, load_config, load_model, load_tokenizer
from counterfoil_core.arithmetic.compute.interpreter import Draws, StepInputs
from counterfoil_core.arithmetic.compute.operation import Compute
from counterfoil_core.arithmetic.machine import Machine
from counterfoil_core.base import canonical
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.commit.state import state_root
from counterfoil_core.operators.node import TensorType

OWN = "answer:"
"""What the names of a pass's own tensors begin with. Tensors of a module have no colon."""
_LOGITS = f"{OWN}logits"
_TOKENS, _PLACES = "tokens", "places"
_MASKED = -(2.0**100)
"""Added to the score of a key that a query does not see: the exponential of what is left is 0."""
_PART = "\N{REPLACEMENT CHARACTER}"
_ATTENTION = {"full_attention", "sliding_attention"}


@dataclass(frozen=True)
class AnsweringModel:
    """A causal language model that was loaded out of a folder."""

    folder: ModelFolder  #: The folder.
    module: nn.Module  #: The model, in evaluation mode; nothing in it is trained.
    words: Any  #: Its tokenizer.
    tokenizer: Digest  #: Digest of the tokenizer's files.
    context: int  #: How many tokens it sees at most.
    vocabulary: int  #: How many tokens it knows.
    ends: tuple[int, ...]  #: The tokens that end an answer, ascending.

    def tokens(self, text: str) -> tuple[int, ...]:
        """Return the tokens of a prompt, those included that the tokenizer puts around it; raises DataError."""
        with failing(self.folder, "the tokenizer"):
            found = tuple(map(int, self.words(text)["input_ids"]))
        if not found:
            raise DataError("The prompt has no tokens.", remedy="Ask something.")
        if max(found) >= self.vocabulary:
            raise DataError(
                f"The tokenizer in {self.folder.path} gives the token {max(found)}; the model knows {self.vocabulary}.",
                remedy="Take the tokenizer that belongs to the model.",
            )
        return found

    def text(self, tokens: tuple[int, ...]) -> str:
        """Return tokens as text."""
        return str(self.words.decode(list(tokens)))

    def named(self, token: int) -> str:
        """Return a token as a quoted text, and its number where that is a part of a character only."""
        text = self.text((token,))
        return repr(text) if _PART not in text else f"{text!r} (number {token:,})"

    def pass_of(self, rows: int, length: int, precision: ExactPrecision) -> CapturedPass:
        """Capture the pass of some rows; raises ProgramError, and DataError where the model answers in another way.

        Args:
            rows: Tokens whose logits are computed; two at least, since with one libraries take other ways.
            length: Tokens for which it has keys and values.
            precision: The precision profile.
        """
        with offline(), failing(self.folder, "a pass of the model"):
            for name, shape in self._cached.items():
                self.module.register_buffer(name, torch.zeros(*shape[:2], length, shape[3]), persistent=False)
            self.module.register_buffer(_LOGITS, torch.zeros(rows, self.vocabulary), persistent=False)
            batch = {name: TensorType("int64", (1, rows)) for name in (_TOKENS, _PLACES)}
            return CapturedPass(capture(self.module, _advance, NothingTrained(), batch, exact=precision))

    @cached_property
    def _cached(self) -> dict[str, torch.Size]:
        """The shapes of keys and values of each layer for two tokens."""
        seen = _Shapes()
        with torch.no_grad():
            _call(self.module, torch.zeros(1, 2, dtype=torch.int64), torch.arange(2)[None], 2, seen)
        return seen.shapes


def load_answering(path: Path) -> AnsweringModel:
    """Load a causal language model out of a local folder; no code of it is run, and nothing is downloaded.

    Raises:
        DataError: transformers is not installed, or the folder holds no such model with a tokenizer.
    """
    folder = read_folder(path)
    library("transformers", "A model of Hugging Face")
    if not (path / TOKENIZER).exists():
        raise DataError(
            f"The folder {path} has no {TOKENIZER}.", remedy="Take a model that reads text, with its tokenizer."
        )
    with offline():
        config, words = load_config(folder), load_tokenizer(folder)
        module: Any
        module, missing = load_model(folder, config, Task.CAUSAL_LM, TOKENS, words)
        with failing(folder, "the model"):
            _check_attention(folder, config)
            context = getattr(config, "max_position_embeddings", None)
            if not isinstance(context, int) or missing:
                raise DataError(
                    f"The model in {path} does not say how many tokens it sees, or lacks weights.",
                    remedy="Take a model of the kinds that docs/answers.md lists.",
                )
            ends = getattr(module.generation_config, "eos_token_id", None)
            vocabulary = int(module.get_output_embeddings().weight.shape[0])
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    files = {file.name: Digest.of_file(file).hex for file in folder.others if file.name in _of_tokenizer(folder)}
    return AnsweringModel(
        folder,
        module.eval(),
        words,
        Digest.of(canonical.encode(files)),
        context,
        vocabulary,
        tuple(sorted({ends} if isinstance(ends, int) else set(ends or ()))),
    )


@dataclass(frozen=True)
class CapturedPass:
    """The program of a pass, with the state that it starts from."""

    step: CapturedStep

    @property
    def digest(self) -> Digest:
        """The program's digest."""
        return self.step.program.digest

    @cached_property
    def model_root(self) -> Digest:
        """The state root over the model's tensors, as in a score."""
        state = self.step.initial_state
        return state_root({name: tensor.numpy() for name, tensor in state.items() if not name.startswith(OWN)})


class Passes:
    """Runs passes of one program, each of which goes on with the keys and values of the one before.

    Args:
        captured: The program.
        machine: Where to compute.
        precision: The precision profile.
        compute: How operators are computed, unless as the machine does.
        cancel: Looked at between operators.
    """

    def __init__(
        self,
        captured: CapturedPass,
        machine: Machine,
        precision: ExactPrecision,
        *,
        compute: Compute | None = None,
        cancel: CancelToken | None = None,
    ) -> None:
        program = captured.step.program
        machine.check_memory([program], precision)
        self._interpreter = machine.interpreter(program, precision)
        self._compute, self._cancel = compute, cancel
        self._state: dict[str, Tensor] = dict(captured.step.initial_state)

    def take(self, other: Passes) -> None:
        """Go on with the keys and values of another program's passes."""
        self._state |= {name: other._state[name] for name in self._state if name.startswith(OWN) and name != _LOGITS}

    def run(self, tokens: tuple[int, ...], first: int) -> Tensor:
        """Return the logits of tokens, float32 ``[tokens, vocabulary]`` on the CPU.

        Args:
            tokens: The tokens, as many as the program has rows.
            first: The place of the first.

        Raises:
            NonFiniteError: A logit, or something on the way to it, is infinite or not a number.
        """
        batch = {
            _TOKENS: torch.tensor([tokens]),
            _PLACES: torch.arange(first, first + len(tokens))[None],
        }
        inputs = StepInputs(self._state, batch, {}, Draws(0, 1))
        self._state = self._interpreter.run(inputs, compute=self._compute, cancel=self._cancel).state
        return self._state[_LOGITS].cpu()


class _Shapes:
    """Stands for a cache of keys and values, and notes their shapes."""

    def __init__(self) -> None:
        self.shapes: dict[str, torch.Size] = {}

    def update(self, keys: Tensor, values: Tensor, layer: int, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """Note the shapes of a layer's keys and values."""
        for name, new in zip(_names(layer), (keys, values), strict=True):
            self.shapes[name] = new.shape
        return keys, values


@dataclass(frozen=True)
class _Cache:
    """Stands for a cache of keys and values of one length, which are buffers of the model."""

    module: nn.Module
    places: Tensor  #: Where new ones go, int64 ``[rows]``.

    def update(self, keys: Tensor, values: Tensor, layer: int, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """Put new keys and values of a layer at their places, and return all."""
        found = []
        for name, new in zip(_names(layer), (keys, values), strict=True):
            found.append(getattr(self.module, name).index_copy(2, self.places, new))
            setattr(self.module, name, found[-1])
        return found[0], found[1]


def _names(layer: int) -> tuple[str, str]:
    return f"{OWN}keys{layer}", f"{OWN}values{layer}"


def _advance(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    """The objective of a pass: puts the logits of its tokens into the state; its loss says nothing."""
    tokens, places = batch[_TOKENS], batch[_PLACES]
    length = getattr(model, f"{OWN}keys0").shape[2]
    setattr(model, _LOGITS, _call(model, tokens, places, length, _Cache(model, places[0]))[0])
    return torch.zeros(())


def _call(model: Any, tokens: Tensor, places: Tensor, length: int, cache: Any) -> Tensor:
    """Call a model of transformers with a mask for each kind of attention, so that it asks the cache for nothing."""
    keys, queries = torch.arange(length)[None], places[0][:, None]
    window: Any = getattr(model.config, "sliding_window", None)
    kinds = set(getattr(model.config, "layer_types", None) or ["sliding_attention" if window else "full_attention"])
    masks = {}
    for kind in kinds:
        seen = keys <= queries
        if kind == "sliding_attention":
            seen = seen & (keys > queries - window)
        masks[kind] = torch.where(seen, 0.0, _MASKED)[None, None]
    mask = masks if len(masks) > 1 else next(iter(masks.values()))
    # Its name in transformers before and since 5.24.
    name = "cache" if "cache" in inspect.signature(type(model).forward).parameters else "past_key_values"
    given = {TOKENS: tokens, "position_ids": places, "attention_mask": mask, name: cache}
    logits: Tensor = model(**given, use_cache=True, return_dict=True).logits
    return logits


def _check_attention(folder: ModelFolder, config: Any) -> None:
    other = set(getattr(config, "layer_types", None) or ()) - _ATTENTION
    if other:
        raise DataError(
            f"The model in {folder.path} has layers of the kind {min(map(str, other))!r}, whose memory is no keys and "
            "values.",
            remedy="Take a model of the kinds that docs/answers.md lists.",
        )


def _of_tokenizer(folder: ModelFolder) -> set[str]:
    """The names of a tokenizer's files, among those that are read of a folder."""
    return {file.name for file in folder.others if "token" in file.name}
