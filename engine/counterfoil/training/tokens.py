"""Text as token numbers, through a tokenizer file of the ``tokenizers`` library (optional extra ``text``)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from counterfoil.base.foreignerrors import text_of, theirs
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.inputs import read_input

MAX_TOKENIZER_BYTES = 256 * 2**20
"""Those of large models have 20 MB."""


@dataclass(frozen=True)
class Tokens:
    """A text as token numbers."""

    numbers: npt.NDArray[np.int32]  #: int32 ``[n]``.
    vocabulary: int  #: Size of the tokenizer's vocabulary: one more than its largest number.
    tokenizer: Path  #: The tokenizer's file, for messages.


def tokenize(text: bytes, tokenizer: Path) -> Tokens:
    """Turn a text into token numbers. Special tokens are not added.

    Args:
        text: The text in UTF-8.
        tokenizer: A ``tokenizer.json``, as the ``tokenizers`` library writes it.

    Raises:
        DataError: The library is not installed, the file cannot be used, or the text is not UTF-8.
    """
    try:
        import tokenizers
    except ModuleNotFoundError as error:
        raise DataError(
            "A tokenizer file needs the library tokenizers, which is not installed.",
            remedy="Install it with: pip install 'counterfoil[text]'. Without a tokenizer the model learns bytes.",
        ) from error
    try:
        characters = text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"The text is not UTF-8: byte {error.start} cannot be read.",
            remedy="Convert it to UTF-8, or leave the tokenizer out and train on bytes.",
        ) from error
    try:
        definition = read_input(tokenizer, "a tokenizer", DataError, most=MAX_TOKENIZER_BYTES).decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"The tokenizer {tokenizer} is not a text file.", remedy="Give a tokenizer.json.") from error
    try:
        loaded = tokenizers.Tokenizer.from_str(definition)
        loaded.no_truncation()
        loaded.no_padding()
        numbers = loaded.encode(characters, add_special_tokens=False).ids
        vocabulary = 1 + max(loaded.get_vocab(with_added_tokens=True).values(), default=-1)
    except BaseException as error:  # the library raises plain Exception, and panics
        theirs(error)
        raise DataError(
            f"The tokenizer {tokenizer} cannot be used.",
            remedy="Give a tokenizer.json, as the tokenizers library writes it.",
            detail=text_of(error),
        ) from error
    return Tokens(np.array(numbers, np.int32), vocabulary, tokenizer)
