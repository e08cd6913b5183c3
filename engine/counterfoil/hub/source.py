"""What is taken out of a model's folder beside its weights: small files of known names, read once, and nothing run.

The folder may be a stranger's. No link is followed, and nothing is taken that could hold weights: a library could load
it in the place of those that were checked.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from counterfoil.audit.values.filekind import OTHER_WEIGHTS, PICKLES, WEIGHTS_SUFFIX
from counterfoil_core.base import canonical
from counterfoil_core.base.canonical import CanonicalError
from counterfoil_core.base.errors import BundleError, DataError
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.schema import check_file_name

# The names of the files that a hub's folder holds beside those that are copied.

CARD = "README.md"
CONFIG = "config.json"
VERDICT = "verdict.json"
AUDITOR = "auditor.pub.pem"
TRAINER = "trainer.pub.pem"
INDEX = "model.safetensors.index.json"
ADAPTER = "adapter_model.safetensors"
ADAPTER_CONFIG = "adapter_config.json"
WRITTEN = (CARD, CONFIG, VERDICT, AUDITOR, TRAINER, INDEX, ADAPTER, ADAPTER_CONFIG)
"""All of them."""

SETTINGS = ("generation_config.json", "preprocessor_config.json", "processor_config.json", "tokenizer_config.json")
"""Names of files of settings, which may name code."""
KNOWN = (
    *SETTINGS,
    # Words and pieces of words.
    "added_tokens.json", "merges.txt", "sentencepiece.bpe.model", "special_tokens_map.json", "spiece.model",
    "spm.model", "tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt",
    # A text with places to be filled in, which transformers fills in within a box of its own.
    "chat_template.jinja",
    # Under what terms.
    "LICENSE", "LICENSE.md", "LICENSE.txt", "NOTICE", "NOTICE.md", "NOTICE.txt",
)  # fmt: skip
"""Names of the files that are copied."""
MAX_BYTES = 64 * 2**20
"""Of a file that is copied; the tokenizers of the largest vocabularies take half of it."""
MAX_INCLUDED = 100
_NAMES_CODE = "auto_map"
"""Under which a configuration names code to be loaded, also from elsewhere."""
_HOLD_WEIGHTS = (WEIGHTS_SUFFIX, *PICKLES, *OTHER_WEIGHTS)


@dataclass(frozen=True)
class Source:
    """What was read of a model's folder."""

    config: Mapping[str, Any]  #: What its ``config.json`` says, without names of code.
    files: Mapping[str, bytes]  #: The other files that are copied, by name.
    changed: frozenset[str]  #: Names of those that named code, which was taken out of them.
    left_out: tuple[str, ...]  #: Names of what else lies there, and is not copied.


def read_source(folder: Path, include: Collection[str] = ()) -> Source:
    """Read the files of a model's folder that belong beside its weights.

    Args:
        folder: The folder.
        include: Names of further files in it that are copied, as they are.

    Raises:
        DataError: It is no folder or has no ``config.json``; or a file is a link, too large, of a kind that may hold
            weights, or should be JSON and is not.
    """
    try:
        present = sorted(os.listdir(folder))
    except OSError as error:
        raise DataError(
            say("The model's folder {0} cannot be read: {1}.", folder, error.strerror or error),
            remedy=say("Give with --from the folder that holds the model's config.json."),
        ) from error
    if CONFIG not in present:
        raise DataError(
            say("The folder {0} has no {1}, without which nothing loads the weights.", folder, CONFIG),
            remedy=say("Write it where the model is made, with model.config.save_pretrained(folder)."),
        )
    _check_included(include, present, folder)
    files: dict[str, bytes] = {}
    changed = set()
    for name in (name for name in present if name in KNOWN or name in include):
        data = _read(folder / name)
        if name in SETTINGS:
            fields = _json(folder / name, data)
            if (without := _without_code(fields)) != fields:
                data = json_text(without)
                changed.add(name)
        files[name] = data
    config = _without_code(_json(folder / CONFIG, _read(folder / CONFIG)))
    left_out = tuple(name for name in present if name not in files and name != CONFIG)
    return Source(config, files, frozenset(changed), left_out)


def json_text(value: Mapping[str, Any]) -> bytes:
    """Return JSON as libraries write it into such a folder."""
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def _check_included(include: Collection[str], present: Collection[str], folder: Path) -> None:
    if len(include) > MAX_INCLUDED:
        raise DataError(say("At most {0} files can be named with --include.", MAX_INCLUDED))
    for name in include:
        try:
            check_file_name(name)
        except BundleError as error:
            raise DataError(
                say("--include takes the name of a file in the model's folder, and {0} is none.", repr(name[:200])),
                remedy=say("Give a name without a folder."),
            ) from error
        if name.lower().endswith(_HOLD_WEIGHTS) or name.lower() in map(str.lower, WRITTEN):
            raise DataError(
                say("{0} is not copied: it may hold weights, or stands where something else is written.", name),
                remedy=say("Leave it out: weights and card are those of the run."),
            )
        if name not in present:
            raise DataError(say("There is no file {0} in {1}.", name, folder))


def _read(path: Path) -> bytes:
    if path.is_symlink():
        raise DataError(
            say("{0} is a link, and links are not followed.", path),
            remedy=say("Copy the folder with the files themselves: cp -rL FOLDER COPY."),
        )
    return read_input(path, say("a file of the model"), DataError, most=MAX_BYTES)


def _without_code(value: Any) -> Any:
    """Settings without the names of code in them."""
    if isinstance(value, dict):
        return {name: _without_code(item) for name, item in value.items() if name != _NAMES_CODE}
    return [_without_code(item) for item in value] if isinstance(value, list) else value


def _json(path: Path, data: bytes) -> dict[str, Any]:
    try:
        value = canonical.parse(data)
    except CanonicalError as error:
        raise DataError(say("{0} is not JSON.", path), remedy=say("Get the file again."), detail=str(error)) from error
    if not isinstance(value, dict):
        raise DataError(say("{0} holds no JSON object.", path), remedy=say("Get the file again."))
    return value
