from __future__ import annotations

import pytest

from counterfoil.base.buckets import buckets


@pytest.mark.parametrize(
    ("sizes", "found"),
    [
        ([], []),
        ([5], [range(1)]),
        ([4, 4, 4], [range(2), range(2, 3)]),
        ([20, 1, 1], [range(1), range(1, 3)]),
        ([1, 20, 1], [range(1), range(1, 2), range(2, 3)]),
        ([0, 0, 8, 0], [range(4)]),
    ],
)
def test_buckets_are_neighbours_within_their_size_and_a_large_tensor_has_its_own(sizes, found) -> None:
    assert buckets(sizes, 8) == found
