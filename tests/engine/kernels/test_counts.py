"""Counts add with ``+``, name by name."""

from __future__ import annotations

from dataclasses import astuple, fields

from hypothesis import given, strategies as st

from counterfoil_core.kernels.result import Counts

counts = st.builds(Counts, *[st.integers(0, 2**40)] * len(fields(Counts)))


@given(st.lists(counts, max_size=5))
def test_counts_add_name_by_name(some: list[Counts]) -> None:
    assert astuple(sum(some, Counts())) == tuple(map(sum, zip(*map(astuple, [*some, Counts()]), strict=True)))


@given(counts, counts)
def test_adding_changes_neither(one: Counts, other: Counts) -> None:
    before = astuple(one), astuple(other)
    assert one + other == other + one
    assert one + Counts() == one
    assert (astuple(one), astuple(other)) == before
