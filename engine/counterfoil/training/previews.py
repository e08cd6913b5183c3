"""The first rows of data, for whoever looks at them before ordering: little is read, and nothing is computed.

What is wrong with data as a whole is found when the order is written; here is only said what cannot be looked at.
"""

from __future__ import annotations

import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, cast

import numpy as np
import numpy.typing as npt

from counterfoil.training.datasets import CIFAR10_TRAIN, IDX_TRAIN
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.inputs import open_input

MOST_IMAGES = 40
MOST_ROWS = 30
MOST_COLUMNS = 12
MOST_CHARACTERS = 6000
MOST_BYTES = 2**18
"""Most that is read of a text, and of a line of a table."""
MOST_PIXELS = 2**16
"""Most bytes of one image; larger ones are not shown."""
CELL_CHARACTERS = 120
_CIFAR10 = 1 + 3 * 32 * 32
_LINES = (".jsonl", ".ndjson")
_FOLDER = (*_LINES, ".parquet", ".txt")
_IDX = {3: b"\0\0\x08\x03", 1: b"\0\0\x08\x01"}
_REMEDY = "Choose the data again; what they must look like stands at the command's help."


@dataclass(frozen=True)
class DataPreview:
    """The first rows of data."""

    #: What they are; ``unread`` where the format is one that is not looked into.
    kind: Literal["images", "table", "text", "unread"]
    images: npt.NDArray[np.uint8]  #: Of images: uint8 ``[n, C, H, W]``; else empty.
    columns: tuple[str, ...]  #: Of a table: the names of its columns, or of images ``("label",)``.
    rows: tuple[tuple[str, ...], ...]  #: Of a table: its first rows; of images the label of each.
    text: str  #: Of a text: its beginning.
    count: int | None  #: How many rows, or bytes of a text, there are in all; None where nobody counted.


_NONE = np.zeros((0, 1, 1, 1), np.uint8)


def preview_data(form: str, path: Path | None) -> DataPreview:
    """Return the first rows of data.

    Args:
        form: What they are data for: a recipe, or ``script``, whose text is shown.
        path: The file or folder; None for what a recipe brings itself.

    Raises:
        DataError: They cannot be looked at.
    """
    try:
        if path is None:
            return _digits()
        if form in ("resnet", "vgg11"):
            return _image_folder(path)
        if form == "logistic":
            return _arrays(path)
        return _texts(path)
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, NotImplementedError) as error:
        raise DataError(f"{path} cannot be looked at: {error}.", remedy=_REMEDY, detail=repr(error)) from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.", remedy=_REMEDY) from error


def _digits() -> DataPreview:
    from counterfoil_resources.digits import load_digits

    images, labels = load_digits()
    shown = (images[:MOST_IMAGES, None].astype(np.uint16) * 255 // 16).astype(np.uint8)  # 16 is the brightest
    return _images(shown, labels, len(images))


def _image_folder(folder: Path) -> DataPreview:
    names = {each.name for each in folder.iterdir()}
    if CIFAR10_TRAIN[0] in names:
        path = folder / CIFAR10_TRAIN[0]
        with _opened(path) as file:
            data = file.read(MOST_IMAGES * _CIFAR10)
        rows = np.frombuffer(data[: len(data) // _CIFAR10 * _CIFAR10], np.uint8).reshape(-1, _CIFAR10)
        count = sum((folder / name).stat().st_size // _CIFAR10 for name in CIFAR10_TRAIN if name in names)
        return _images(rows[:, 1:].reshape(-1, 3, 32, 32), rows[:, 0], count)
    found = [next((name for name in (plain, f"{plain}.gz") if name in names), "") for plain in IDX_TRAIN]
    if not all(found):
        raise DataError(
            f"The folder {folder} holds no images that can be shown.",
            remedy="Choose the folder with data_batch_1.bin (CIFAR-10, binary version), or with "
            "train-images-idx3-ubyte (MNIST).",
        )
    (count, height, width), pixels = _idx(folder / found[0], 3)
    _, labels = _idx(folder / found[1], 1)
    return _images(pixels.reshape(-1, 1, height, width), labels, count)


def _idx(path: Path, axes: int) -> tuple[tuple[int, ...], npt.NDArray[np.uint8]]:
    """Read the lengths of an IDX file, and its first rows."""
    with _opened(path) as file:
        if file.read(4) != _IDX[axes]:
            raise DataError(f"The file {path} is no IDX file of bytes with {axes} axes.", remedy=_REMEDY)
        lengths = tuple(int.from_bytes(file.read(4), "big") for _ in range(axes))
        size = int(np.prod(lengths[1:], dtype=object))
        if not 0 < size <= MOST_PIXELS:
            raise DataError(f"The images in {path} are too large to be shown.", remedy=_REMEDY)
        data = file.read(MOST_IMAGES * size)
    return lengths, np.frombuffer(data[: len(data) // size * size], np.uint8)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, and unpack it as it is read where its name ends in .gz."""
    with io.BufferedReader(open_input(path, "data", DataError)) as file:
        yield cast("IO[bytes]", gzip.GzipFile(fileobj=file)) if path.suffix == ".gz" else file


def _images(images: npt.NDArray[np.uint8], labels: npt.NDArray[Any], count: int) -> DataPreview:
    shown = min(len(images), len(labels))
    rows = tuple((str(int(label)),) for label in labels[:shown])
    return DataPreview("images", np.ascontiguousarray(images[:shown]), ("label",), rows, "", count)


def _arrays(path: Path) -> DataPreview:
    """The first rows of the arrays features and labels of an .npz file."""
    with open_input(path, "a table", DataError) as opened, zipfile.ZipFile(opened) as archive:
        features, count = _rows_of(archive, "features.npy")
        labels, _ = _rows_of(archive, "labels.npy")
    width = min(features.shape[1], MOST_COLUMNS) if features.ndim == 2 else 0
    columns = ["label", *(f"features[{place}]" for place in range(width))]
    rows = [
        (str(label), *(f"{value:.6g}" for value in row[:width])) for row, label in zip(features, labels, strict=False)
    ]
    return DataPreview("table", _NONE, tuple(columns), tuple(rows), "", count)


def _rows_of(archive: zipfile.ZipFile, name: str) -> tuple[npt.NDArray[Any], int]:
    with archive.open(name) as file:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, by_column, dtype = read(file)
        if by_column or dtype.hasobject or not shape or min(shape) < 0:
            raise DataError(f"The array {name} is laid out in a way that is not shown.", remedy=_REMEDY)
        row = dtype.itemsize * int(np.prod(shape[1:], dtype=object))
        if not 0 < row <= MOST_BYTES:
            raise DataError(f"The rows of {name} are too large to be shown.", remedy=_REMEDY)
        data = file.read(row * min(MOST_ROWS, shape[0]))
    return np.frombuffer(data[: len(data) // row * row], dtype).reshape(-1, *shape[1:]), shape[0]


def _texts(path: Path) -> DataPreview:
    if path.is_dir():
        files = sorted(each for each in path.iterdir() if each.suffix in _FOLDER)
        files = [each for each in files if each.name.startswith("train")] or files
        if not files:
            raise DataError(
                f"The folder {path} holds no data: no file ends in {', '.join(_FOLDER)}.",
                remedy="Choose the file, or a folder that holds it.",
            )
        path = files[0]
    if path.suffix == ".parquet":
        return DataPreview("unread", _NONE, (), (), "", None)
    with io.BufferedReader(open_input(path, "data", DataError)) as file:
        size = path.stat().st_size
        data = file.read(MOST_BYTES)
    if path.suffix in _LINES:
        lines = data.split(b"\n")
        return _lines(lines if len(data) == size else lines[:-1], path)
    text = data.decode("utf-8-sig", "replace")[:MOST_CHARACTERS]
    return DataPreview("text", _NONE, (), (), text, size)


def _lines(lines: Sequence[bytes], path: Path) -> DataPreview:
    """The first lines of JSON objects as a table of what the first has."""
    rows = []
    for line in [each for each in lines if each.strip()][:MOST_ROWS]:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"A line of {path} is not JSON.", remedy=_REMEDY, detail=str(error)) from error
        if not isinstance(row, dict):
            raise DataError(f"A line of {path} is not a JSON object.", remedy=_REMEDY)
        rows.append(row)
    if not rows:
        raise DataError(f"There is no row in the first {MOST_BYTES // 1024} kB of {path}.", remedy=_REMEDY)
    columns = tuple(str(name)[:CELL_CHARACTERS] for name in list(rows[0])[:MOST_COLUMNS])
    cells = tuple(tuple(_cell(row.get(name)) for name in list(rows[0])[:MOST_COLUMNS]) for row in rows)
    return DataPreview("table", _NONE, columns, cells, "", None)


def _cell(value: object) -> str:
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value)
    return text if len(text) <= CELL_CHARACTERS else f"{text[:CELL_CHARACTERS]}\u2026"
