"""Readers of public image data sets, from files that the user has: CIFAR-10's binary version, and IDX files.

Formats: https://www.cs.toronto.edu/~kriz/cifar.html (binary version) and http://yann.lecun.com/exdb/mnist (IDX). Both
are read strictly: a file of another size, an unknown magic number or a label out of range is an error, found before any
work begins.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from counterfoil_core.base.errors import DataError
from counterfoil_core.base.inputs import open_input

_T = TypeVar("_T")

CLASSES = 10
"""Classes of CIFAR-10, MNIST and Fashion-MNIST."""

CIFAR10_TRAIN = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
CIFAR10_TEST = ("test_batch.bin",)
CIFAR10_FOLDER = "cifar-10-batches-bin"
_CIFAR10_SHAPE = (3, 32, 32)
_CIFAR10_ROW = 1 + 3 * 32 * 32
_CIFAR10_IMAGES = 10_000

IDX_TRAIN = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte")
IDX_TEST = ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
_IDX_UBYTE = 0x08
_MAX_IDX_BYTES = 2**33


class _Stream(Protocol):
    """A file, or what decompresses one."""

    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True)
class ImageSet:
    """Images and their labels."""

    images: npt.NDArray[np.uint8]  #: uint8 ``[n, C, H, W]``.
    labels: npt.NDArray[np.int64]  #: int64 ``[n]``, 0 to 9.

    def first(self, rows: int | None) -> ImageSet:
        """Return the first ``rows`` images; all of them for None.

        Raises:
            DataError: There are fewer.
        """
        if rows is None:
            return self
        if not 1 <= rows <= len(self.images):
            raise DataError(
                f"The first {rows} images were asked for; the data has {len(self.images)}.",
                remedy="Choose fewer rows, or leave the number out.",
            )
        return ImageSet(self.images[:rows], self.labels[:rows])


def read_images(folder: Path, *, test: bool = False) -> ImageSet:
    """Read the data set that a folder holds: CIFAR-10's binary version, or IDX files of MNIST or Fashion-MNIST.

    Args:
        folder: The folder.
        test: Read the test images rather than those for training.

    Raises:
        DataError: There is no such folder, it holds neither or both, or a file is missing or damaged.
    """
    names = _names(folder)
    cifar = any(name in names for name in CIFAR10_TRAIN + CIFAR10_TEST)
    idx = any(name.removesuffix(".gz") in IDX_TRAIN + IDX_TEST for name in names)
    if cifar and idx:
        raise DataError(
            f"The folder {folder} holds both CIFAR-10 and IDX files, so it is not clear which to use.",
            remedy="Put each data set into a folder of its own.",
        )
    if idx:
        return read_idx(folder, test=test)
    if cifar:
        return read_cifar10(folder, test=test)
    raise DataError(f"The folder {folder} holds no images that Counterfoil can read.", remedy=_advice(folder, names))


def read_cifar10(folder: Path, *, test: bool = False) -> ImageSet:
    """Read CIFAR-10 (Krizhevsky 2009) from the files of its binary version.

    Args:
        folder: Holds ``data_batch_1.bin`` to ``data_batch_5.bin`` and ``test_batch.bin``.
        test: Read ``test_batch.bin`` only, rather than the other five.

    Returns:
        50,000 images ``[3, 32, 32]`` for training, or 10,000 for testing.

    Raises:
        DataError: A file is missing, has another size than the format's, or holds a label above 9.
    """
    names = CIFAR10_TEST if test else CIFAR10_TRAIN
    present = _names(folder)
    for name in names:
        if name not in present:
            raise DataError(f"The folder {folder} has no file {name}.", remedy=_advice(folder, present))
    expected = _CIFAR10_IMAGES * _CIFAR10_ROW
    images = np.empty((len(names) * _CIFAR10_IMAGES, *_CIFAR10_SHAPE), np.uint8)
    labels = np.empty(len(images), np.int64)
    for number, name in enumerate(names):
        path = folder / name
        data = _read(path, lambda file: file.read(expected + 1))
        if len(data) != expected:
            raise DataError(
                f"The file {path} has {_size(len(data), expected)}; a file of CIFAR-10's binary version has exactly "
                f"{expected}.",
                remedy="Unpack cifar-10-binary.tar.gz again.",
            )
        rows = np.frombuffer(data, np.uint8).reshape(_CIFAR10_IMAGES, _CIFAR10_ROW)
        place = slice(number * _CIFAR10_IMAGES, (number + 1) * _CIFAR10_IMAGES)
        labels[place] = _checked_labels(rows[:, 0], path)
        images[place] = rows[:, 1:].reshape(-1, *_CIFAR10_SHAPE)
    return ImageSet(images, labels)


def read_idx(folder: Path, *, test: bool = False) -> ImageSet:
    """Read MNIST (LeCun et al. 1998), Fashion-MNIST (Xiao et al. 2017) or another set in the same files.

    Args:
        folder: Holds ``train-images-idx3-ubyte`` and ``train-labels-idx1-ubyte``, and the same with ``t10k``; each as
            it is, or compressed with ``.gz`` at the end of its name.
        test: Read the files of ``t10k``.

    Returns:
        Images ``[1, H, W]``.

    Raises:
        DataError: A file is missing or damaged, holds something else, or the two do not fit together.
    """
    image_path, label_path = (_find_idx(folder, name) for name in (IDX_TEST if test else IDX_TRAIN))
    images = read_idx_file(image_path, 3)
    labels = read_idx_file(label_path, 1)
    if len(images) != len(labels):
        raise DataError(
            f"The file {image_path} has {len(images)} images, and {label_path} has {len(labels)} labels.",
            remedy="Take both files from the same data set.",
        )
    if not images.size:
        raise DataError(f"The file {image_path} holds no images.", remedy="Take the files from the data set again.")
    return ImageSet(images[:, None], _checked_labels(labels, label_path))


def read_idx_file(path: Path, axes: int) -> npt.NDArray[np.uint8]:
    """Read one IDX file of bytes.

    Args:
        path: The file; compressed if its name ends in ``.gz``.
        axes: Number of axes that it must have: 3 for images, 1 for labels.

    Raises:
        DataError: The file cannot be read, or is not such a file from its first byte to its last.
    """
    again = "Take the file from the data set again."

    def contents(file: _Stream) -> tuple[bytes, bytes, bytes]:
        magic = file.read(4)
        if magic != bytes((0, 0, _IDX_UBYTE, axes)):
            return magic, b"", b""
        lengths = file.read(4 * axes)
        expected = _product(lengths)
        # One byte more than the file should have, and not all of it: a compressed file may claim any size.
        return magic, lengths, file.read(expected + 1) if expected <= _MAX_IDX_BYTES else b""

    magic, lengths, data = _read(path, contents)
    if magic != bytes((0, 0, _IDX_UBYTE, axes)):
        raise DataError(
            f"The file {path} begins with {magic.hex() or 'nothing'}; an IDX file of bytes with {axes} "
            f"{'axis' if axes == 1 else 'axes'} begins with 000008{axes:02x}.",
            remedy=again,
        )
    if len(lengths) != 4 * axes:
        raise DataError(f"The file {path} ends inside its header.", remedy=again)
    expected = _product(lengths)
    if expected > _MAX_IDX_BYTES:
        raise DataError(f"The file {path} claims {expected} bytes of data; {_MAX_IDX_BYTES} can be read.", remedy=again)
    if len(data) != expected:
        raise DataError(
            f"The file {path} has {_size(len(data), expected)} of data; its header promises {expected}.", remedy=again
        )
    return np.frombuffer(data, np.uint8).reshape(_lengths(lengths))


def _lengths(header: bytes) -> tuple[int, ...]:
    return tuple(int.from_bytes(header[start : start + 4], "big") for start in range(0, len(header), 4))


def _product(header: bytes) -> int:
    count = 1
    for length in _lengths(header):
        count *= length
    return count


def _size(found: int, expected: int) -> str:
    return f"more than {expected} bytes" if found > expected else f"{found} bytes"


def _checked_labels(labels: npt.NDArray[np.uint8], path: Path) -> npt.NDArray[np.int64]:
    wrong = np.flatnonzero(labels >= CLASSES)
    if wrong.size:
        raise DataError(
            f"In the file {path} image {int(wrong[0])} has the label {int(labels[wrong[0]])}; labels are 0 to "
            f"{CLASSES - 1}.",
            remedy="The file is damaged, or of another data set: take it from the data set again.",
        )
    return labels.astype(np.int64)


def _find_idx(folder: Path, name: str) -> Path:
    present = _names(folder)
    for candidate in (name, f"{name}.gz"):
        if candidate in present:
            return folder / candidate
    raise DataError(f"The folder {folder} has no file {name} or {name}.gz.", remedy=_advice(folder, present))


def _names(folder: Path) -> frozenset[str]:
    try:
        return frozenset(path.name for path in folder.iterdir())
    except OSError as error:
        raise DataError(
            f"The folder {folder} cannot be read: {error.strerror or error}.",
            remedy="Give the folder that holds the files of the data set.",
        ) from error


def _advice(folder: Path, names: frozenset[str]) -> str:
    if CIFAR10_FOLDER in names:
        return f"Give the folder inside it: {folder / CIFAR10_FOLDER}"
    if "data_batch_1" in names:
        return "These are CIFAR-10's files for Python; take the binary version, cifar-10-binary.tar.gz."
    return (
        f"It should hold {CIFAR10_TRAIN[0]} to {CIFAR10_TRAIN[-1]} and {CIFAR10_TEST[0]} (CIFAR-10, binary version), "
        f"or {IDX_TRAIN[0]} and {IDX_TRAIN[1]} (MNIST, Fashion-MNIST; .gz as well)."
    )


def _read(path: Path, contents: Callable[[_Stream], _T]) -> _T:
    try:
        with open_input(path, "a file of images or labels", DataError) as file, io.BufferedReader(file) as buffered:
            return contents(gzip.GzipFile(fileobj=buffered) if path.suffix == ".gz" else buffered)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(
            f"The compressed file {path} is damaged or incomplete.",
            remedy="Take the file from the data set again.",
            detail=str(error),
        ) from error
    except OSError as error:
        raise DataError(f"The file {path} cannot be read: {error.strerror or error}.") from error
