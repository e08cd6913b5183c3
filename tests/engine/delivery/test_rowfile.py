"""Files of rows and tables, damaged in every way that a fuzzer found: each ends in a sentence."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterfoil.delivery.rowfile import read_rows
from counterfoil.training.recipes.logistic import read_table
from counterfoil_core.base.errors import DataError, GivenFileError

FOUND = [
    b"\x93NUMPY\x01\x00v\x00O^}{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 3), }   \x16".ljust(127)
    + b"\n",
    b"\x93NUMPY\x01\x00v\x00{zc{'des\nr': '<i8', 'fortran_order': False, 'shape': (), }".ljust(127) + b"\n",
]
"""Headers that numpy hands to Python's tokenizer."""


def saved(write: Callable[[io.BytesIO], object]) -> bytes:
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


def damaged(data: bytes, chance: random.Random) -> bytes:
    bent = bytearray(data)
    for _ in range(chance.randint(1, 3)):
        kind = chance.random()
        if kind < 0.6:
            bent[chance.randrange(min(len(bent), 160))] = chance.randrange(256)
        elif kind < 0.8:
            bent = bent[: chance.randrange(len(bent))] or bytearray(b"x")
        else:
            bent[10:10] = bytes(chance.randrange(32, 127) for _ in range(3))
    return bytes(bent)


ROWS = [saved(lambda file, array=array: np.save(file, array)) for array in (np.ones((3, 4), np.float32), np.array(5))]
TABLE = {"features": np.ones((4, 3), np.float32), "labels": np.array([0, 1, 0, 1])}
TABLES = [saved(lambda file: np.savez(file, **TABLE)), saved(lambda file: np.savez_compressed(file, **TABLE))]


@pytest.mark.parametrize(
    ("read", "sound", "error"), [(read_rows, ROWS, GivenFileError), (read_table, TABLES, DataError)]
)
def test_damage_is_said(
    read: Callable[[Path], Any], sound: list[bytes], error: type[Exception], tmp_path: Path
) -> None:
    path, chance, refused = tmp_path / "given", random.Random(1), 0
    for data in [*sound, *FOUND, *(damaged(chance.choice(sound), chance) for _ in range(1500))]:
        path.write_bytes(data)
        try:
            read(path)
        except error:
            refused += 1
    assert refused > 700, "most damage is noticed"
    path.write_bytes(sound[0])
    read(path)
