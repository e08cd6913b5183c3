"""What is no sound safetensors file is refused, in words that say why: each rule of the format, and its border."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterfoil.base.joberrors import WeightsError
from counterfoil.delivery import tensorfile
from counterfoil.delivery.tensorfile import TensorFile, open_tensors
from counterfoil_core.bundle.steady import SteadyFile

ZEROS = b"\0" * 8


def tensor(begin: int = 0, end: int = 8, dtype: Any = "F32", shape: Any = (2,), **more: Any) -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end], **more}


def opened(folder: Path, header: Any, data: bytes = ZEROS) -> TensorFile:
    path = folder / "model.safetensors"
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return open_tensors(SteadyFile.open(path))


def test_a_sound_file_is_read(tmp_path: Path) -> None:
    numbers = np.array([1.5, -2.0], "<f4")
    file = opened(
        tmp_path,
        {
            "b": tensor(8, 9, "BOOL", (1,)),
            "a": tensor(),
            "none": tensor(9, 9, shape=(0, 3)),
            "__metadata__": {"k": "v"},
        },
        numbers.tobytes() + b"\1",
    )
    assert list(file.tensors) == ["a", "b", "none"]
    assert file.metadata == {"k": "v"}
    assert file.read(file.tensors["a"]).tolist() == [1.5, -2.0]
    assert file.read(file.tensors["b"]).tolist() == [True]
    assert file.read(file.tensors["none"]).shape == (0, 3)


REFUSED: dict[str, tuple[Any, bytes, str]] = {
    "no json object": (b"[1]", ZEROS, "its header is not a JSON object"),
    "broken json": (b'{"a": }', ZEROS, "its header cannot be used: .*JSON"),
    "a name twice": (b'{"a": {}, "a": {}}', ZEROS, "its header cannot be used: .*twice"),
    "texts that are none": ({"a": tensor(), "__metadata__": {"k": 1}}, ZEROS, "texts of its header are not texts"),
    "texts in a list": ({"a": tensor(), "__metadata__": ["k"]}, ZEROS, "texts of its header are not texts"),
    "an empty name": ({"": tensor()}, ZEROS, "'' is no name"),
    "a long name": ({"a" * 1001: tensor()}, ZEROS, "is no name"),
    "a name of two lines": ({"a\nb": tensor()}, ZEROS, "is no name"),
    "no description": ({"a": [1]}, ZEROS, "does not describe a tensor"),
    "a field too many": ({"a": tensor(more=1)}, ZEROS, "does not describe a tensor"),
    "an unknown dtype": ({"a": tensor(dtype="F4")}, ZEROS, "has the dtype 'F4', which is not read"),
    "a dtype that is no text": ({"a": tensor(dtype=[])}, ZEROS, "has the dtype"),
    "a negative length": ({"a": tensor(shape=(-2,))}, ZEROS, "not a list of lengths"),
    "a length that is true": ({"a": tensor(shape=(True, 2))}, ZEROS, "not a list of lengths"),
    "too many axes": ({"a": tensor(shape=(1,) * 64 + (2,))}, ZEROS, "not a list of lengths"),
    "a place of three": ({"a": tensor() | {"data_offsets": [0, 8, 8]}}, ZEROS, "the place of the tensor 'a'"),
    "a place backwards": ({"a": tensor(8, 0)}, ZEROS, "the place of the tensor 'a'"),
    "another size": ({"a": tensor(shape=(3,))}, ZEROS, "another size than its shape and dtype"),
    "an overlap": ({"a": tensor(), "b": tensor(4, 12)}, ZEROS + ZEROS[:4], "'b' overlaps another"),
    "a hole": ({"a": tensor(), "b": tensor(12, 20)}, ZEROS * 2 + ZEROS[:4], "lies behind bytes that belong to none"),
    "a hole at the start": ({"a": tensor(1, 9)}, ZEROS + b"\0", "lies behind bytes that belong to none"),
    "bytes behind": ({"a": tensor()}, ZEROS + b"\0", "it ends at"),
    "bytes missing": ({"a": tensor()}, ZEROS[:-1], "it ends at"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_breaks_a_rule_is_refused(tmp_path: Path, what: str) -> None:
    header, data, sentence = REFUSED[what]
    with pytest.raises(
        WeightsError, match=rf"model\.safetensors is not a sound safetensors file: .*{sentence}"
    ) as told:
        opened(tmp_path, header, data)
    assert told.value.remedy == "Ask for the weights again, as safetensors files."


def test_as_long_a_name_and_as_many_axes_as_are_read(tmp_path: Path) -> None:
    file = opened(tmp_path, {"a" * 1000: tensor(shape=(1,) * 63 + (2,))})
    assert [len(name) for name in file.tensors] == [1000]


@pytest.mark.parametrize("length", [0, 1, 9, 2**63, 2**64 - 1])
def test_a_header_of_an_impossible_length_is_refused(tmp_path: Path, length: int) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(length.to_bytes(8, "little") + b"{}      ")
    with pytest.raises(WeightsError, match=f"its header cannot be {length} bytes long"):
        open_tensors(SteadyFile.open(path))


def test_no_more_tensors_than_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensorfile, "MAX_TENSORS", 2)
    empty = {name: tensor(0, 0, shape=(0,)) for name in "abc"}
    assert len(opened(tmp_path, dict(list(empty.items())[:2]), b"").tensors) == 2
    with pytest.raises(WeightsError, match="it names 3 tensors, and at most 2 are read"):
        opened(tmp_path, empty, b"")


def test_truth_values_are_0_or_1(tmp_path: Path) -> None:
    file = opened(tmp_path, {"a": tensor(0, 2, "BOOL")}, b"\0\2")
    with pytest.raises(WeightsError, match="'a' has truth values other than 0 and 1"):
        file.read(file.tensors["a"])
