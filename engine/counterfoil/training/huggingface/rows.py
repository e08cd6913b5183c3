"""Records as rows of token numbers, padded or cut to one length, with masks and labels."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from counterfoil.training.huggingface.records import Records, RowKind
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import DataError

IGNORED = -100
"""The label of a token that is not learned."""
AT_ONCE = 1000
"""How many texts are tokenised between two looks at the token."""
PIECE = 1 << 18
"""A document is tokenised in pieces of at most so many characters, cut behind the end of a line where there is one."""


@dataclass(frozen=True)
class TokenRows:
    """Rows of tokens."""

    #: ``input_ids`` int32 ``[rows, length]``; ``attention_mask`` uint8 of this shape where a row is padded; ``labels``,
    #: of this shape where they are not the tokens themselves, or int64 ``[rows]`` for classification.
    data: dict[str, Array]
    length: int  #: Tokens of a row; of the completion where a model reads something else than tokens.
    tokens: int  #: Tokens in all, without padding.
    cut: int = 0  #: How many rows were cut.
    left_out: int = 0  #: How many rows had nothing to learn and are left out.

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.data.values())))


@dataclass(frozen=True)
class _Row:
    """Tokens of a row, and how many at its beginning are not learned."""

    tokens: list[int]
    given: int = 0


def pack_rows(
    records: Records, tokenizer: Any, length: int, cancel: CancelToken | None
) -> Generator[tuple[int, int], None, TokenRows]:
    """Join all texts, with the end token between them, and cut the whole into full rows.

    Args:
        records: Documents or texts.
        tokenizer: A fast tokenizer of transformers.
        length: Tokens of a row.
        cancel: Looked at between pieces.

    Yields:
        Characters done, and how many there are.

    Raises:
        DataError: There are fewer tokens than a row has.
    """
    total = sum(map(len, records.texts))
    end = [] if tokenizer.eos_token_id is None else [tokenizer.eos_token_id]
    done = 0
    found: list[npt.NDArray[np.int32]] = []
    for group in _groups(records.texts):
        if cancel is not None:
            cancel.check()
        encoded = tokenizer([text for text, _ in group], add_special_tokens=False, verbose=False)["input_ids"]
        for (text, last), tokens in zip(group, encoded, strict=True):
            found.append(np.array([*tokens, *(end if last else [])], np.int32))
            done += len(text)
        yield done, total
    joined = np.concatenate([np.zeros(0, np.int32), *found])
    rows = len(joined) // length
    if not rows:
        raise DataError(
            f"The data have {len(joined)} tokens, too few for a row of {length}.",
            remedy="Give more data, or shorter rows with --length.",
        )
    return TokenRows({"input_ids": joined[: rows * length].reshape(rows, length)}, length, rows * length)


def causal(
    records: Records, tokenizer: Any, most: int, cancel: CancelToken | None
) -> Generator[tuple[int, int], None, TokenRows]:
    """Make a row of each text, or of each pair, of which only the completion is learned; each ends with the end token.

    Args:
        records: Texts or pairs.
        tokenizer: A fast tokenizer of transformers.
        most: The most tokens of a row; longer ones are cut.
        cancel: Looked at now and then.

    Yields:
        Rows done, and how many there are.

    Raises:
        DataError: No row has anything to learn.
    """
    end = tokenizer.eos_token_id
    prompts = [len(text) for text in records.texts] if records.kind is RowKind.PAIR else [0] * len(records.texts)
    texts = records.texts
    if records.kind is RowKind.PAIR:
        texts = [text + str(second) for text, second in zip(texts, records.seconds, strict=True)]

    def row(tokens: list[int], offsets: list[tuple[int, int]], number: int) -> _Row:
        # A token that reaches beyond the prompt belongs to the completion.
        given = next((at for at, (_, stop) in enumerate(offsets) if stop > prompts[number]), len(tokens))
        if end is not None:
            tokens = [*(tokens[:-1] if tokens[-1:] == [end] else tokens), end]
        return _Row(tokens, given if prompts[number] else 0)

    rows = yield from _encoded(texts, tokenizer, row, cancel)
    return _padded(rows, tokenizer, most)


def translation_row(
    records: Records, tokenizer: Any, most: int, start: int | None, cancel: CancelToken | None
) -> Generator[tuple[int, int], None, TokenRows]:
    """Make a row of each pair for an encoder and a decoder: the prompt is read, and the completion learned.

    Both have the special tokens that the tokenizer sets around a text, and are padded or cut by themselves; a
    completion has the end token in any case.

    Args:
        records: Pairs; of speech only what is said is taken.
        tokenizer: A fast tokenizer of transformers.
        most: The most tokens of a prompt, and of a completion; longer ones are cut.
        start: The token that the decoder begins with; where every completion begins with it too, it is left away,
            since the model sets it.
        cancel: Looked at now and then.

    Yields:
        Rows done, and how many there are.
    """
    cut: set[int] = set()
    end = tokenizer.eos_token_id

    def prompt(tokens: list[int], offsets: list[tuple[int, int]], number: int) -> _Row:
        if len(tokens) > most:
            cut.add(number)
            tokens = tokenizer(records.texts[number], truncation=True, max_length=most)["input_ids"]
        return _Row(tokens)

    def completion(tokens: list[int], offsets: list[tuple[int, int]], number: int) -> _Row:
        tokens = tokens if end is None or end in tokens else [*tokens, end]
        if len(tokens) > most:
            cut.add(number)
        return _Row(tokens[:most])

    data: dict[str, Array] = {}
    count = 0
    if not records.files:
        read = yield from _encoded(records.texts, tokenizer, prompt, cancel)
        data["input_ids"], mask, _ = _arrays(read, tokenizer, max(1, *(len(row.tokens) for row in read)))
        count = int(mask.sum())
        if not mask.all():
            data["attention_mask"] = mask
    completions = [str(text) for text in records.seconds]
    learned = yield from _encoded(completions, tokenizer, completion, cancel)
    if all(row.tokens[:1] == [start] for row in learned):
        learned = [_Row(row.tokens[1:]) for row in learned]
    length = max(len(row.tokens) for row in learned)
    if not length:
        raise DataError("No completion of the data has a token to learn.", remedy="Give completions with words.")
    _, mask, data["labels"] = _arrays(learned, tokenizer, length)
    width = data["input_ids"].shape[1] if "input_ids" in data else length
    return TokenRows(data, width, count + int(mask.sum()), len(cut))


def classification_row(
    records: Records, labels: Sequence[int], tokenizer: Any, most: int, cancel: CancelToken | None
) -> Generator[tuple[int, int], None, TokenRows]:
    """Make a row of each text, with the special tokens that the tokenizer sets around one.

    Args:
        records: Texts with labels.
        labels: The number of each label.
        tokenizer: A fast tokenizer of transformers.
        most: The most tokens of a row; longer ones are cut, and keep the special tokens.
        cancel: Looked at now and then.

    Yields:
        Rows done, and how many there are.
    """
    cut = 0

    def row(tokens: list[int], offsets: list[tuple[int, int]], number: int) -> _Row:
        nonlocal cut
        if len(tokens) > most:
            cut += 1
            tokens = tokenizer(records.texts[number], truncation=True, max_length=most)["input_ids"]
        return _Row(tokens)

    rows = yield from _encoded(records.texts, tokenizer, row, cancel)
    length = max(1, *(len(row.tokens) for row in rows))
    ids, mask, _ = _arrays(rows, tokenizer, length)
    data: dict[str, Array] = {"input_ids": ids, "labels": np.array(labels, np.int64)}
    if not mask.all():
        data["attention_mask"] = mask
    return TokenRows(data, length, int(mask.sum()), cut)


def _encoded(
    texts: list[str],
    tokenizer: Any,
    make: Callable[[list[int], list[tuple[int, int]], int], _Row],
    cancel: CancelToken | None,
) -> Generator[tuple[int, int], None, list[_Row]]:
    rows: list[_Row] = []
    for start in range(0, len(texts), AT_ONCE):
        if cancel is not None:
            cancel.check()
        part = tokenizer(texts[start : start + AT_ONCE], return_offsets_mapping=True, verbose=False)
        for tokens, offsets in zip(part["input_ids"], part["offset_mapping"], strict=True):
            rows.append(make(tokens, offsets, len(rows)))
        yield len(rows), len(texts)
    return rows


def _padded(rows: list[_Row], tokenizer: Any, most: int) -> TokenRows:
    """Rows of one length, with labels; those without anything to learn are left out."""
    # The first token of a row is never predicted.
    kept = [row for row in rows if max(row.given, 1) < min(len(row.tokens), most)]
    if not kept:
        raise DataError(
            f"No row of the data has a token to learn within {most} tokens.",
            remedy="Give longer texts, or longer rows with --length.",
        )
    length = min(most, max(len(row.tokens) for row in kept))
    ids, mask, labels = _arrays(kept, tokenizer, length)
    data: dict[str, Array] = {"input_ids": ids}
    if not np.array_equal(labels, ids):
        data["labels"] = labels
    if not mask.all():
        data["attention_mask"] = mask
    cut = sum(len(row.tokens) > length for row in kept)
    return TokenRows(data, length, int(mask.sum()), cut, len(rows) - len(kept))


def _arrays(
    rows: list[_Row], tokenizer: Any, length: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
    """Tokens, mask and labels, each ``[rows, length]``, padded on the right."""
    ids = np.full((len(rows), length), padding_token(tokenizer), np.int32)
    mask = np.zeros(ids.shape, np.uint8)
    labels = np.full(ids.shape, IGNORED, np.int32)
    for number, row in enumerate(rows):
        tokens = row.tokens[:length]
        ids[number, : len(tokens)] = tokens
        mask[number, : len(tokens)] = 1
        labels[number, row.given : len(tokens)] = tokens[row.given :]
    return ids, mask, labels


def padding_token(tokenizer: Any) -> int:
    """The token that rows are padded with: the tokenizer's own, else its end token, else the first."""
    return next((int(t) for t in (tokenizer.pad_token_id, tokenizer.eos_token_id) if t is not None), 0)


def _groups(texts: list[str]) -> Generator[list[tuple[str, bool]], None, None]:
    """Pieces of texts, each with whether it is a text's last, in groups of about :data:`PIECE` characters."""
    group: list[tuple[str, bool]] = []
    size = 0
    for text in texts:
        start = 0
        while start < len(text) or not text:
            stop = start + PIECE
            if stop < len(text):
                stop = text.rfind("\n", start, stop) + 1 or stop
            group.append((text[start:stop], stop >= len(text)))
            size += min(stop, len(text)) - start
            start = stop
            if size >= PIECE:
                yield group
                group, size = [], 0
            if not text:
                break
    if group:
        yield group
