from __future__ import annotations

import hashlib
from importlib.resources import files

import numpy as np

from counterfoil_resources.digits import load_digits

FILE_SHA256 = "b2dab7b501728c22e9119ad76740b2e17c77a231e42d1e592380d90886f1a05e"


def test_the_file_is_the_one_whose_provenance_is_written_down():
    folder = files("counterfoil_resources").joinpath("data")
    assert hashlib.sha256(folder.joinpath("digits.npz").read_bytes()).hexdigest() == FILE_SHA256
    assert FILE_SHA256 in folder.joinpath("PROVENANCE.md").read_text(encoding="utf-8")


def test_shapes_types_and_ranges():
    images, labels = load_digits()
    assert images.shape == (1797, 8, 8)
    assert images.dtype == np.uint8
    assert labels.shape == (1797,)
    assert labels.dtype == np.int64
    assert (images.min(), images.max()) == (0, 16)
    # Class counts and the first image as published by the UCI repository for the test set.
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert images[0, 0].tolist() == [0, 0, 5, 13, 9, 1, 0, 0]
