"""The data of a fine-tuning out of local files: texts, pairs, texts or images with labels, speech with its words."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from counterfoil.training.huggingface.library import library
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.inputs import open_input, read_input

MAX_DATA_BYTES = 4 * 2**30
"""A file of data is held in memory."""
_SUFFIXES = (".jsonl", ".ndjson", ".parquet", ".txt")
_IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff", ".gif")
_OFTEN = 1 << 10
"""After how many rows is reported."""


class RowKind(StrEnum):
    """What a row of the data is."""

    DOCUMENT = "document"
    """A whole text file, to be cut into rows."""
    TEXT = "text"
    PAIR = "prompt and completion"
    LABELLED = "text and label"
    IMAGE = "image and label"
    SPEECH = "audio and text"


WORDS = (RowKind.PAIR, RowKind.LABELLED, RowKind.TEXT)
"""What a model of texts can learn from, the fullest row first."""


@dataclass(frozen=True)
class Records:
    """The data."""

    kind: RowKind  #: What a row is.
    texts: list[str]  #: The text of each row: the prompt of a pair; of an image or a sound the path of its file.
    #: The completion, the label (str or int), or what is said, of each row; empty where there is none.
    seconds: list[str | int]

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of images or sounds."""
        return tuple(map(Path, self.texts)) if self.kind in (RowKind.IMAGE, RowKind.SPEECH) else ()


def data_files(path: Path) -> tuple[Path, ...]:
    """Return the files of data that a path names: itself, or those of a folder.

    Of a folder it is the files whose names end in .jsonl, .ndjson, .parquet or .txt, in alphabetical order; where
    some of their names begin with "train", only these. Where there are none, it is the images in its folders, one for
    each class; or in those of its folder "train".

    Raises:
        DataError: There are none, or they are of several kinds.
    """
    if not path.is_dir():
        return (path,)
    files = sorted(file for file in path.iterdir() if file.suffix in _SUFFIXES)
    files = [file for file in files if file.name.startswith("train")] or files
    if not files:
        classes = path / "train" if (path / "train").is_dir() else path
        files = sorted(file for file in classes.glob("*/*") if file.suffix.lower() in _IMAGES)
        if files:
            return tuple(files)
        raise DataError(
            f"The folder {path} holds no data: no file ends in {', '.join(_SUFFIXES)}, and no folder in it has images.",
            remedy="Name the file, or a folder that holds it; of images a folder with one folder for each class.",
        )
    kinds = sorted({file.suffix for file in files})
    if len(kinds) > 1:
        raise DataError(
            f"The folder {path} holds files of several kinds: {', '.join(kinds)}.", remedy="Name one file of them."
        )
    return tuple(files)


def read_records(
    files: tuple[Path, ...],
    columns: Mapping[str, str],
    cancel: CancelToken | None = None,
    kinds: Sequence[RowKind] = WORDS,
) -> Generator[tuple[int, int], None, Records]:
    """Read files of data.

    Args:
        files: Of one kind: JSON lines, Parquet, images in folders that are called as their classes, or else plain
            text.
        columns: What the data call ``text``, ``prompt``, ``completion``, ``label``, ``image`` or ``audio``, where they
            call it otherwise.
        cancel: Looked at between rows.
        kinds: What rows the model can learn from; of those that the columns allow it is the first.

    Yields:
        How many files were read, and how many there are.

    Raises:
        DataError: A file cannot be read, or a row is not as the first one; the message names its line.
    """
    if files[0].suffix.lower() in _IMAGES:
        return Records(RowKind.IMAGE, list(map(str, files)), [file.parent.name for file in files])
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
            kind = kind or _kind(row, columns, file, kinds)
            first, second = _NAMES[kind]
            text = _value(row, columns.get(first, first), str, file, line)
            texts.append(_beside(text, file, line) if first in ("image", "audio") else text)
            if second:
                types = (str, int) if second == "label" else (str,)
                seconds.append(_value(row, columns.get(second, second), types, file, line))
    if kind is None:
        raise DataError(f"There is no row in {files[0]}.", remedy="Give data with rows.")
    return Records(kind, texts, seconds)


_NAMES = {
    RowKind.TEXT: ("text", ""),
    RowKind.PAIR: ("prompt", "completion"),
    RowKind.LABELLED: ("text", "label"),
    RowKind.IMAGE: ("image", "label"),
    RowKind.SPEECH: ("audio", "text"),
}
COLUMNS = frozenset(name for names in _NAMES.values() for name in names if name)


def _kind(row: Mapping[str, Any], columns: Mapping[str, str], file: Path, kinds: Sequence[RowKind]) -> RowKind:
    """What the rows are, by the columns of the first."""
    for kind in kinds:
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
        f"The rows of {file} have {names or 'no column'}; they should have {_listed(kinds)}.",
        remedy=remedy,
    )


def _listed(kinds: Iterable[RowKind]) -> str:
    """The columns of these kinds, in words."""
    return ", or ".join(" and ".join(repr(name) for name in _NAMES[kind] if name) for kind in kinds if kind in _NAMES)


def _value(row: Mapping[str, Any], name: str, kinds: Any, file: Path, line: int) -> Any:
    value = row.get(name)
    if not isinstance(value, kinds) or isinstance(value, bool):
        has = f"{name!r} is of type {type(value).__name__}" if name in row else f"there is no {name!r}"
        wanted = "a text" if kinds in (str, (str,)) else "a text or a whole number"
        raise DataError(f"Row {line} of {file} cannot be used: {has}; it should be {wanted}.")
    return value


def _beside(name: str, file: Path, line: int) -> str:
    """The file that a row names; data that came from others must not fetch one from anywhere else."""
    path = file.parent / name
    if not path.resolve().is_relative_to(file.parent.resolve()):
        raise DataError(
            f"Row {line} of {file} names the file {name!r}, which lies elsewhere.",
            remedy=f"Name files by their path within {file.parent}.",
        )
    return str(path)


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
            raise DataError(
                f"Line {number} of {path} is not a JSON object.", remedy=f"Give it the fields {_listed(_NAMES)}."
            )
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
