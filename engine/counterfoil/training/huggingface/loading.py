"""What transformers loads out of a folder: models, tokenizers, what prepares images or sounds; no code of it is run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from counterfoil.base.foreignerrors import describe_error, text_of, theirs
from counterfoil.training.finetuning import Task
from counterfoil.training.huggingface.folder import ModelFolder
from counterfoil.training.huggingface.library import library
from counterfoil.training.huggingface.rows import padding_token
from counterfoil_core.base.errors import CounterfoilError, DataError

TOKENS, PIXELS, SOUND = "input_ids", "pixel_values", "input_features"
"""What transformers calls the arrays that its models read."""
_LOOK = "Look whether 'from_pretrained' of transformers loads the folder without trust_remote_code."
_NO_PACKAGES = "Counterfoil loads no package that a folder asks for. Take a model of transformers' own classes."
_LOCAL = {"local_files_only": True, "trust_remote_code": False}


@contextmanager
def failing(folder: ModelFolder, what: str) -> Iterator[None]:
    """Make a sentence of whatever the libraries raise about a folder."""
    try:
        yield
    except CounterfoilError:
        raise
    except BaseException as error:
        said, remedy = describe_error(theirs(error)), _LOOK
        if isinstance(error, ImportError) or "install" in said.lower():
            # The folder may have named the package, and whoever installs that runs its code.
            said, remedy = "it needs a package that is not part of the extra hf", _NO_PACKAGES
        raise DataError(
            f"The library transformers cannot load {what} in {folder.path}: {said}.",
            remedy=remedy,
            detail=text_of(error),
        ) from error


def load_tokenizer(folder: ModelFolder) -> Any:
    """Load a model's tokenizer; raises DataError where it cannot be loaded, or is not one of the library tokenizers."""
    transformers = library("transformers", "A model of Hugging Face")
    with failing(folder, "the tokenizer"):
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder.path), **_LOCAL)
    if not tokenizer.is_fast:
        raise DataError(f"The tokenizer in {folder.path} is not one of the library tokenizers.")
    return tokenizer


def load_preparation(folder: ModelFolder, reads: str) -> Any:
    """Load what makes the arrays that a model reads of images or sounds; None where it reads tokens.

    Raises:
        DataError: It cannot be loaded.
    """
    transformers = library("transformers", "A model of Hugging Face")
    if reads == TOKENS:
        return None
    kind = transformers.AutoImageProcessor if reads == PIXELS else transformers.AutoFeatureExtractor
    with failing(folder, "what prepares images or sounds"):
        return kind.from_pretrained(str(folder.path), **_LOCAL)


def load_config(folder: ModelFolder) -> Any:
    """Load a model's configuration; raises DataError."""
    transformers = library("transformers", "A model of Hugging Face")
    with failing(folder, "the configuration"):
        return transformers.AutoConfig.from_pretrained(str(folder.path), **_LOCAL)


def load_model(
    folder: ModelFolder, config: Any, task: Task, reads: str, tokenizer: Any
) -> tuple[nn.Module, tuple[str, ...]]:
    """Load a model, float32, ready to be trained.

    Args:
        folder: Its folder.
        config: Its configuration.
        task: What it is for.
        reads: What it reads, :data:`TOKENS` for instance.
        tokenizer: Its tokenizer, if it has one.

    Returns:
        The model, and the names of weights that the folder lacks.

    Raises:
        DataError: It cannot be loaded, or is no model for the task.
    """
    transformers = library("transformers", "A model of Hugging Face")
    config.use_cache = False
    automatic = {
        (Task.CAUSAL_LM, TOKENS): transformers.AutoModelForCausalLM,
        (Task.SEQ2SEQ, TOKENS): transformers.AutoModelForSeq2SeqLM,
        (Task.SEQ2SEQ, SOUND): transformers.AutoModelForSpeechSeq2Seq,
        (Task.CLASSIFICATION, TOKENS): transformers.AutoModelForSequenceClassification,
        (Task.CLASSIFICATION, PIXELS): transformers.AutoModelForImageClassification,
    }[task, reads]
    with failing(folder, "the model"):
        model, loaded = automatic.from_pretrained(
            str(folder.path),
            config=config,
            dtype=torch.float32,
            use_safetensors=True,
            output_loading_info=True,
            **_LOCAL,
        )
    missing = tuple(sorted(loaded["missing_keys"]))
    if task is Task.CAUSAL_LM:
        _check_causal(folder, model, missing)
    elif task is Task.SEQ2SEQ and missing:
        raise DataError(
            f"The folder {folder.path} holds a {', '.join(folder.architectures) or 'model'} and has no weights "
            f"{missing[0]!r}; that is no model that writes one text for another.",
            remedy="Take a model with an encoder and a decoder, and all their weights.",
        )
    elif tokenizer is not None and task is Task.CLASSIFICATION:
        # By this token some find the end of a row. Said before, it would keep the token's embedding from learning.
        model.config.pad_token_id = padding_token(tokenizer)
    return model.train(), missing


def _check_causal(folder: ModelFolder, model: nn.Module, missing: tuple[str, ...]) -> None:
    """Refuse a model that was not trained to predict the next token: it would see it."""
    names = folder.architectures
    same = not names or type(model).__name__ in names
    # Of a model without its head, which may share the embedding.
    base = any(type(model).__name__.startswith(name.removesuffix("Model")) for name in names if name.endswith("Model"))
    if missing or not (same or base):
        lacks = f" and has no weights {missing[0]!r}" if missing else ""
        raise DataError(
            f"The folder {folder.path} holds a {', '.join(names) or 'model'}{lacks}; that is no causal language model.",
            remedy="Take another model, or train a classifier with --task classification.",
        )
