"""The first rows of data, as they are shown before an order is written: little is read, whatever lies there."""

from __future__ import annotations

import gzip
import json
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

from counterfoil import DataPreview, preview_data
from counterfoil.training import previews
from counterfoil_core.base.errors import CounterfoilError, DataError
from counterfoil_resources.digits import load_digits


def idx(path: Path, array: np.ndarray[tuple[int, ...], np.dtype[np.uint8]], *, packed: bool = False) -> None:
    data = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()
    path.write_bytes(gzip.compress(data) if packed else data)


def test_the_digits_come_with_their_labels() -> None:
    found = preview_data("digits-cnn", None)
    images, labels = load_digits()
    assert found.kind == "images"
    assert found.count == 1797
    assert found.images.shape == (previews.MOST_IMAGES, 1, 8, 8)
    assert [row[0] for row in found.rows[:5]] == [str(label) for label in labels[:5]]
    assert found.images.max() == 255
    assert (found.images[0, 0] == images[0].astype(int) * 255 // 16).all()


@pytest.mark.parametrize("packed", [False, True])
def test_images_of_idx_files(packed: bool, tmp_path: Path) -> None:
    pixels = np.arange(60 * 6 * 5, dtype=np.uint32).astype(np.uint8).reshape(60, 6, 5)
    ending = ".gz" if packed else ""
    idx(tmp_path / f"train-images-idx3-ubyte{ending}", pixels, packed=packed)
    idx(tmp_path / f"train-labels-idx1-ubyte{ending}", np.arange(60, dtype=np.uint8) % 10, packed=packed)
    found = preview_data("resnet", tmp_path)
    assert found.count == 60
    assert (found.images[:, 0] == pixels[: previews.MOST_IMAGES]).all()
    assert found.rows[11] == ("1",)


def test_images_of_cifar(tmp_path: Path) -> None:
    rows = np.arange(50 * 3073, dtype=np.uint32).astype(np.uint8).reshape(50, 3073)
    (tmp_path / "data_batch_1.bin").write_bytes(rows.tobytes())
    found = preview_data("vgg11", tmp_path)
    assert found.images.shape == (previews.MOST_IMAGES, 3, 32, 32)
    assert (found.images[3].reshape(-1) == rows[3, 1:]).all()
    assert found.rows[3] == (str(rows[3, 0]),)
    assert found.count == 50


def test_a_table_of_arrays(tmp_path: Path) -> None:
    features = np.random.default_rng(0).random((100, 20), np.float32)
    np.savez(tmp_path / "table.npz", features=features, labels=np.arange(100) % 2)
    found = preview_data("logistic", tmp_path / "table.npz")
    assert found.kind == "table"
    assert found.count == 100
    assert len(found.rows) == previews.MOST_ROWS
    assert len(found.columns) == previews.MOST_COLUMNS + 1
    assert found.rows[1][:2] == ("1", f"{features[1, 0]:.6g}")


def test_lines_of_json_are_a_table(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text("".join(json.dumps({"text": f"row {n}", "label": n}) + "\n" for n in range(100)))
    found = preview_data("hf", tmp_path)
    assert found.columns == ("text", "label")
    assert found.rows[2] == ("row 2", "2")
    assert len(found.rows) == previews.MOST_ROWS


def test_a_text_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_text("\u00e4" * (2 * previews.MOST_BYTES))
    found = preview_data("gpt2", path)
    assert found.kind == "text"
    assert len(found.text) == previews.MOST_CHARACTERS
    assert found.count == path.stat().st_size


def test_parquet_is_not_looked_into(tmp_path: Path) -> None:
    (tmp_path / "train.parquet").write_bytes(b"PAR1")
    assert preview_data("hf", tmp_path).kind == "unread"


def bomb(path: Path, array: str, header: str, data: bytes = b"") -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("features.npy", "labels.npy"):
            wrong = name == f"{array}.npy"
            text = header if wrong else "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }"
            packed = text.encode().ljust(118) + b"\n"
            archive.writestr(name, b"\x93NUMPY\1\0" + struct.pack("<H", len(packed)) + packed + (data or bytes(4)))


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '|O', 'fortran_order': False, 'shape': (1, 1), }",
        "{'descr': '<f4', 'fortran_order': True, 'shape': (4, 4), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 99999999999999999999), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 0), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 4), }",
        "not a header",
    ],
)
@pytest.mark.parametrize("array", ["features", "labels"])
def test_arrays_of_other_kinds_are_refused_and_never_run(array: str, header: str, tmp_path: Path) -> None:
    path = tmp_path / "table.npz"
    bomb(path, array, header)
    with pytest.raises(DataError, match=rf"{array}|table\.npz"):
        preview_data("logistic", path)


HOSTILE = {
    "resnet": [("train-images-idx3-ubyte", b"\0\0\x08\x03" + b"\xff" * 12), ("train-labels-idx1-ubyte", b"")],
    "hf": [("train.jsonl", b"[" * 5000)],
    "logistic": [("table.npz", b"PK\x03\x04 no archive")],
    "gpt2": [("book.txt", bytes(range(256)))],
}


@pytest.mark.parametrize("form", HOSTILE)
def test_damaged_data_end_in_a_sentence(form: str, tmp_path: Path) -> None:
    for name, content in HOSTILE[form]:
        (tmp_path / name).write_bytes(content)
    path = tmp_path / HOSTILE[form][0][0] if form in ("logistic", "gpt2") else tmp_path
    if form == "gpt2":
        assert preview_data(form, path).kind == "text"
        return
    with pytest.raises(DataError):
        preview_data(form, path)


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    for form in ("resnet", "logistic", "gpt2", "hf"):
        with pytest.raises(CounterfoilError):
            preview_data(form, tmp_path / "missing")


def test_a_line_that_never_ends_is_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    with path.open("wb") as file:
        file.truncate(2**32)  # a sparse file: all zeros
    with pytest.raises(DataError, match="no row"):
        preview_data("hf", path)


def test_a_preview_goes_through_a_message() -> None:
    from counterfoil.talk.messages import decode, encode

    found = preview_data("digits-cnn", None)
    again: DataPreview = decode(encode(found), DataPreview)
    assert (again.images == found.images).all()
    assert again.rows == found.rows
