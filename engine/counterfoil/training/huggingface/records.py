"""The data of a fine-tuning: texts, pairs of prompt and completion, or texts with labels, out of local files."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from counterfoil.base.cancel import CancelToken
from counterfoil.base.errors import DataError
from counterfoil.base.inputs import open_input, read_input
from counterfoil.training.huggingface.library import library

MAX_DATA_BYTES = 4 * 2**30
"""A file of data is held in memory."""
_SUFFIXES = (".jsonl", ".ndjson", ".parquet", ".txt")
_COLUMNS = "'text', 'prompt' and 'completion', or 'text' and 'label'"
_OFTEN = 1 << 10
"""After how many rows is reported."""


class RowKind(StrEnum):
    """What a row of the data is."""

    DOCUMENT = "document"
    """A whole text file, to be cut into rows."""
    TEXT = "text"
    PAIR = "prompt and completion"
    LABELLED = "text and label"


@dataclass(frozen=True)
class Records:
    """The data.

    Attributes:
        kind: What a row is.
        texts: The text of each row: the prompt of a pair.
        seconds: The completion, or the label (str or int), of each row; empty where there is none.
    """

    kind: RowKind
    texts: list[str]
    seconds: list[str | int]


def data_files(path: Path) -> tuple[Path, ...]:
    """Return the files of data that a path names: itself, or those of a folder.

    Of a folder it is the files whose names end in .jsonl, .ndjson, .parquet or .txt, in alphabetical order; where
    some of their names begin with "train", only these.

    Raises:
        DataError: There are none, or they are of several kinds.
    """
    if not path.is_dir():
        return (path,)
    files = sorted(file for file in path.iterdir() if file.suffix in _SUFFIXES)
    files = [file for file in files if file.name.startswith("train")] or files
    if not files:
        raise DataError(
            f"The folder {path} holds no data: no file ends in {', '.join(_SUFFIXES)}.",
            remedy="Name the file, or a folder that holds it.",
        )
    kinds = sorted({file.suffix for file in files})
    if len(kinds) > 1:
        raise DataError(
            f"The folder {path} holds files of several kinds: {', '.join(kinds)}.", remedy="Name one file of them."
        )
    return tuple(files)


def read_records(
    files: tuple[Path, ...], columns: Mapping[str, str], cancel: CancelToken | None = None
) -> Generator[tuple[int, int], None, Records]:
    """Read files of data.

    Args:
        files: Of one kind: JSON lines, Parquet, or else plain text.
        columns: What the data call ``text``, ``prompt``, ``completion`` or ``label``, where they call it otherwise.
        cancel: Looked at between rows.

    Yields:
        How many files were read, and how many there are.

    Raises:
        DataError: A file cannot be read, or a row is not as the first one; the message names its line.
    """
    rows = _READERS.get(files[0].suffix)
    texts: list[str] = []
    if rows is None:
        for number, file in enumerate(files):
            yield number, len(files)
            texts.append(_document(file))
        return Records(RowKind.DOCUMENT, texts, [])
    kind: RowKind | None = None
    seconds: list[str | int] = []
    for number, file in enumerate(files):
        yield number, len(files)
        for line, row in enumerate(rows(file), start=1):
            if cancel is not None and line % _OFTEN == 0:
                cancel.check()
            kind = kind or _kind(row, columns, file)
            first, second = _NAMES[kind]
            texts.append(_value(row, columns.get(first, first), str, file, line))
            if second:
                kinds = (str, int) if kind is RowKind.LABELLED else (str,)
                seconds.append(_value(row, columns.get(second, second), kinds, file, line))
    if kind is None:
        raise DataError(f"There is no row in {files[0]}.", remedy="Give data with rows.")
    return Records(kind, texts, seconds)


_NAMES = {RowKind.TEXT: ("text", ""), RowKind.PAIR: ("prompt", "completion"), RowKind.LABELLED: ("text", "label")}


def _kind(row: Mapping[str, Any], columns: Mapping[str, str], file: Path) -> RowKind:
    """What the rows are, by the columns of the first."""
    for kind in (RowKind.PAIR, RowKind.LABELLED, RowKind.TEXT):
        if all(columns.get(name, name) in row for name in _NAMES[kind] if name):
            return kind
    names = ", ".join(repr(name) for name in list(row)[:8])
    remedy = "Say which column is which, for instance with --columns text=content."
    if "messages" in row:
        # A tokenizer's template is a program in the folder of the model.
        remedy = (
            "Write conversations as texts, with tokenizer.apply_chat_template(messages, tokenize=False), or as prompt "
            "and completion."
        )
    raise DataError(
        f"The rows of {file} have {names or 'no column'}; they should have {_COLUMNS}.",
        remedy=remedy,
    )


def _value(row: Mapping[str, Any], name: str, kinds: Any, file: Path, line: int) -> Any:
    value = row.get(name)
    if not isinstance(value, kinds) or isinstance(value, bool):
        has = f"{name!r} is of type {type(value).__name__}" if name in row else f"there is no {name!r}"
        wanted = "a text" if kinds in (str, (str,)) else "a text or a whole number"
        raise DataError(f"Row {line} of {file} cannot be used: {has}; it should be {wanted}.")
    return value


def _document(path: Path) -> str:
    data = read_input(path, "a text to learn from", DataError, most=MAX_DATA_BYTES)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path} is not a text in UTF-8: byte {error.start} cannot be read.",
            remedy="Convert it to UTF-8; or name a file that ends in .jsonl or .parquet.",
        ) from error


def _json_lines(path: Path) -> Iterator[Mapping[str, Any]]:
    for number, line in enumerate(_document(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(
                f"Line {number} of {path} is not JSON.",
                remedy="Each line of such a file is a JSON object of its own.",
                detail=str(error),
            ) from error
        if not isinstance(row, dict):
            raise DataError(f"Line {number} of {path} is not a JSON object.", remedy=f"Give it the fields {_COLUMNS}.")
        yield row


def _parquet(path: Path) -> Iterator[Mapping[str, Any]]:
    parquet = library("pyarrow.parquet", "A Parquet file")
    open_input(path, "a Parquet file", DataError).close()
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(_OFTEN):
                yield from batch.to_pylist()
    except (ValueError, OSError) as error:  # the library's own errors are of the first kind
        raise DataError(f"{path} cannot be read as a Parquet file.", detail=str(error)) from error


_READERS: dict[str, Callable[[Path], Iterator[Mapping[str, Any]]]] = {
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".parquet": _parquet,
}
