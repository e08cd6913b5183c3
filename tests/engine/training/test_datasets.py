"""Readers of image data sets: what they read, and the sentence for every way in which a file can be wrong."""

from __future__ import annotations

import gzip
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from counterfoil.training.datasets import (
    CIFAR10_TEST,
    CIFAR10_TRAIN,
    IDX_TRAIN,
    ImageSet,
    read_cifar10,
    read_idx,
    read_images,
)
from counterfoil_core.base.errors import DataError

FASHION_MNIST = Path("/usr/share/datasets/fashion-mnist")
ROW = 3073
CIFAR_BYTES = 10_000 * ROW


def images(count: int = 6, height: int = 5, width: int = 4) -> np.ndarray:
    return (np.arange(count * height * width) % 251).astype(np.uint8).reshape(count, height, width)


def idx(array: np.ndarray) -> bytes:
    header = bytes((0, 0, 8, array.ndim)) + b"".join(n.to_bytes(4, "big") for n in array.shape)
    return header + array.tobytes()


def write_idx(folder: Path, *, image_bytes: bytes | None = None, label_bytes: bytes | None = None, gz: bool = False):
    labels = np.arange(6, dtype=np.uint8)
    contents = (image_bytes or idx(images()), label_bytes or idx(labels))
    for name, data in zip(IDX_TRAIN, contents, strict=True):
        (folder / f"{name}.gz" if gz else folder / name).write_bytes(gzip.compress(data) if gz else data)
    return folder


@pytest.mark.parametrize("gz", [False, True])
def test_idx_files(tmp_path, gz):
    found = read_images(write_idx(tmp_path, gz=gz))
    assert np.array_equal(found.images, images()[:, None])
    assert found.images.shape == (6, 1, 5, 4)
    assert found.labels.tolist() == [0, 1, 2, 3, 4, 5]
    assert found.labels.dtype == np.int64


TOO_MANY = idx(images()) + b"x"
HUGE = bytes((0, 0, 8, 3)) + (2**32 - 1).to_bytes(4, "big") * 3


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ({"image_bytes": idx(images())[:-1]}, ["train-images", "119 bytes", "120"]),
        ({"image_bytes": TOO_MANY}, ["train-images", "more than 120"]),
        ({"image_bytes": idx(images())[:9]}, ["train-images", "header"]),
        ({"image_bytes": b"\x00"}, ["train-images", "begins with 00"]),
        ({"image_bytes": b"PK\x03\x04" + bytes(99)}, ["train-images", "504b0304", "00000803"]),
        ({"image_bytes": idx(np.zeros((6, 1, 1), np.uint8)).replace(b"\x08\x03", b"\x0d\x03", 1)}, ["00000d03"]),
        ({"image_bytes": HUGE}, ["train-images", "claims"]),
        ({"image_bytes": idx(np.zeros((6, 0, 3), np.uint8))}, ["train-images", "no images"]),
        ({"image_bytes": idx(images(5))}, ["5 images", "6 labels"]),
        ({"label_bytes": idx(images())}, ["train-labels", "00000803", "00000801"]),
        ({"label_bytes": idx(np.array([0, 1, 2, 10, 4, 5], np.uint8))}, ["train-labels", "image 3", "label 10"]),
    ],
)
@pytest.mark.parametrize("gz", [False, True])
def test_a_wrong_idx_file_is_a_sentence(tmp_path, damage, words, gz):
    write_idx(tmp_path, gz=gz, **damage)
    with pytest.raises(DataError) as caught:
        read_images(tmp_path)
    assert all(word in caught.value.sentence for word in words), caught.value.sentence
    assert str(tmp_path) in caught.value.sentence
    assert caught.value.remedy


@pytest.mark.parametrize("cut", [1, 12, 40, -9, -1])
def test_a_truncated_gzip_file_is_a_sentence(tmp_path, cut):
    write_idx(tmp_path, gz=True)
    path = tmp_path / f"{IDX_TRAIN[0]}.gz"
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(DataError, match="damaged or incomplete"):
        read_idx(tmp_path)


def test_gzip_of_something_else_and_damaged_bits(tmp_path):
    write_idx(tmp_path, gz=True)
    path = tmp_path / f"{IDX_TRAIN[0]}.gz"
    good = path.read_bytes()
    path.write_bytes(idx(images()))
    with pytest.raises(DataError, match="damaged or incomplete"):
        read_idx(tmp_path)
    refused = 0
    for place in range(10, len(good)):
        path.write_bytes(good[:place] + bytes([good[place] ^ 0x10]) + good[place + 1 :])
        try:
            found = read_idx(tmp_path)
        except DataError:
            refused += 1
        else:  # an unused bit: the images are what they were
            assert np.array_equal(found.images[:, 0], images())
    assert refused > 100


def test_a_bomb_is_not_unpacked(tmp_path):
    """A small compressed file that goes on for a gigabyte after what its header promises."""
    write_idx(tmp_path, gz=True)
    chunk = gzip.compress(bytes(2**26))
    path = tmp_path / f"{IDX_TRAIN[0]}.gz"
    path.write_bytes(gzip.compress(idx(images())) + chunk * 16)
    with pytest.raises(DataError, match="more than 120 bytes"):
        read_idx(tmp_path)


@pytest.mark.parametrize("missing", IDX_TRAIN)
def test_a_missing_idx_file(tmp_path, missing):
    (write_idx(tmp_path) / missing).unlink()
    with pytest.raises(DataError, match=rf"no file {missing} or {missing}\.gz"):
        read_images(tmp_path)


@pytest.fixture(scope="module")
def cifar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cifar")
    for number, name in enumerate(CIFAR10_TRAIN + CIFAR10_TEST):
        with (folder / name).open("wb") as file:
            file.truncate(CIFAR_BYTES)
            file.write(bytes([number]))  # label of the first image
            file.seek(ROW * 9_999 + 1 + 1024)  # first green pixel of the last image
            file.write(bytes([200 + number]))
    return folder


def linked(cifar: Path, folder: Path, without: str = "") -> Path:
    for path in cifar.iterdir():
        if path.name != without:
            os.link(path, folder / path.name)
    return folder


def test_cifar10(cifar):
    train, test = read_images(cifar), read_images(cifar, test=True)
    assert train.images.shape == (50_000, 3, 32, 32)
    assert test.images.shape == (10_000, 3, 32, 32)
    assert train.labels[::10_000].tolist() == [0, 1, 2, 3, 4]
    assert test.labels[0] == 5
    assert train.images[9_999::10_000, 1, 0, 0].tolist() == [200, 201, 202, 203, 204]
    assert int(train.images.sum()) == 200 + 201 + 202 + 203 + 204


@pytest.mark.parametrize(
    ("size", "word"), [(CIFAR_BYTES - 1, str(CIFAR_BYTES - 1)), (CIFAR_BYTES + 1, "more than"), (0, "0 bytes")]
)
def test_a_cifar10_file_of_another_size(cifar, tmp_path, size, word):
    name = CIFAR10_TRAIN[3]
    path = linked(cifar, tmp_path, without=name) / name
    with path.open("wb") as file:
        file.truncate(size)
    with pytest.raises(DataError, match=name) as caught:
        read_cifar10(tmp_path)
    assert word in caught.value.sentence
    assert caught.value.remedy


def test_a_cifar10_label_out_of_range(cifar, tmp_path):
    name = CIFAR10_TRAIN[1]
    path = linked(cifar, tmp_path, without=name) / name
    shutil.copyfile(cifar / name, path)
    with path.open("r+b") as file:
        file.seek(ROW * 77)
        file.write(b"\x0a")
    with pytest.raises(DataError, match=rf"{name} image 77 has the label 10"):
        read_cifar10(tmp_path)


def test_a_missing_cifar10_file(cifar, tmp_path):
    linked(cifar, tmp_path, without=CIFAR10_TRAIN[2])
    with pytest.raises(DataError, match=rf"no file {CIFAR10_TRAIN[2]}"):
        read_images(tmp_path)
    assert len(read_images(tmp_path, test=True).labels) == 10_000


def test_what_the_folder_holds_decides_the_advice(tmp_path):
    with pytest.raises(DataError, match="holds no images") as caught:
        read_images(tmp_path)
    assert "data_batch_1.bin" in caught.value.remedy
    assert "train-images-idx3-ubyte" in caught.value.remedy
    (tmp_path / "data_batch_1").touch()
    with pytest.raises(DataError, match="holds no images") as caught:
        read_images(tmp_path)
    assert "files for Python" in caught.value.remedy
    (tmp_path / "cifar-10-batches-bin").mkdir()
    with pytest.raises(DataError) as caught:
        read_images(tmp_path)
    assert str(tmp_path / "cifar-10-batches-bin") in caught.value.remedy
    write_idx(tmp_path)
    (tmp_path / CIFAR10_TRAIN[0]).touch()
    with pytest.raises(DataError, match="both CIFAR-10 and IDX"):
        read_images(tmp_path)


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.touch()])
def test_no_folder(tmp_path, make):
    path = tmp_path / "nowhere"
    make(path)
    with pytest.raises(DataError, match="nowhere cannot be read"):
        read_images(path)


def test_a_folder_in_the_place_of_a_file(tmp_path):
    for name in IDX_TRAIN:
        (tmp_path / name).mkdir()
    with pytest.raises(DataError, match="is a folder"):
        read_images(tmp_path)


def test_the_first_rows():
    whole = ImageSet(images()[:, None], np.arange(6))
    assert whole.first(None) is whole
    assert whole.first(2).images.shape == (2, 1, 5, 4)
    assert whole.first(6).labels.tolist() == [0, 1, 2, 3, 4, 5]
    for rows in (0, 7):
        with pytest.raises(DataError, match="the data has 6"):
            whole.first(rows)


@pytest.mark.skipif(not FASHION_MNIST.is_dir(), reason="Debian's dataset-fashion-mnist is not installed")
def test_fashion_mnist():
    train, test = read_images(FASHION_MNIST), read_images(FASHION_MNIST, test=True)
    assert train.images.shape == (60_000, 1, 28, 28)
    assert test.images.shape == (10_000, 1, 28, 28)
    assert np.bincount(train.labels).tolist() == [6_000] * 10
