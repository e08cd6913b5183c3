from __future__ import annotations

import pytest
import torch

from counterfoil_core.arithmetic.families.table import FORMS, MAGNITUDES, SCALES
from counterfoil_core.operators.catalogue import allowed_names, classify, is_allowed
from counterfoil_core.operators.facts import DRAWS, OperatorClass
from counterfoil_core.operators.signatures import overload

NAMES = [name for name in allowed_names() if name not in DRAWS]

# Core ATen operators that no program may use, each with the reason.
EXCLUDED = {
    "_cdist_forward": "put together from a difference and a norm",
    "_pdist_forward": "as _cdist_forward",
    "_embedding_bag": "put together from sums by index",
    "_fft_c2r": "complex numbers",
    "_fft_r2c": "complex numbers",
    "_local_scalar_dense": "reads a value to decide control flow",
    "_native_batch_norm_legit.default": "changes its running statistics: the functional form stands for it",
    "as_strided": "reads memory by address; taken apart into views that cannot leave a tensor",
    "as_strided_scatter": "writes memory by address; taken apart likewise",
    "atan2.out": "writes to an argument",
    "empty": "uninitialised memory; lowered to full",
    "empty_strided": "uninitialised memory; lowered to full",
    "grid_sampler_2d": "put together, so that each coordinate is a correctly rounded product and sum",
    "masked_scatter": "the position of each element depends on the values before it; taken apart",
    "native_dropout": "draws random numbers: taken from Philox, like those below",
    "nonzero": "a shape that depends on values",
    "rand": "draws random numbers",
    "randn": "draws random numbers",
    "randperm": "draws random numbers",
    "resize_": "changes the shape of a tensor in place",
    "sort.default": "the order of equal elements differs between machines: sort.stable is on the list",
    "topk": "which of equal elements are chosen differs between machines; taken apart by sort.stable",
    "sym_is_contiguous": "as sym_numel; listed once it has been used",
    "sym_numel": "a size as a value: shapes are fixed in a program",
    "sym_size": "as sym_numel",
    "sym_storage_offset": "as sym_numel",
    "sym_stride": "as sym_numel",
    "upsample_bilinear2d.vec": "lowered to the overload that is on the list",
    "upsample_nearest2d.vec": "lowered to the overload that is on the list",
    "var.dim": "lowered to var.correction",
}


def core_operators() -> list[str]:
    names = []
    for packet in dir(torch.ops.aten):
        found = getattr(torch.ops.aten, packet)
        if isinstance(found, torch._ops.OpOverloadPacket):
            names += [f"{packet}.{o}" for o in found.overloads() if torch.Tag.core in getattr(found, o).tags]
    return names


@pytest.mark.parametrize("name", NAMES)
def test_every_entry_exists_and_is_a_pure_function(name):
    operator = overload(name)
    assert not operator._schema.is_mutable
    assert torch.Tag.nondeterministic_seeded not in operator.tags
    assert torch.Tag.data_dependent_output not in operator.tags
    # With a boolean index the shape depends on values; check_types refuses that.
    assert torch.Tag.dynamic_output_shape not in operator.tags or name == "aten.index.Tensor"


@pytest.mark.parametrize("name", NAMES)
def test_every_rounded_entry_names_a_scale_rule_and_every_other_a_reason(name):
    # alpha = 3 and a floating-point output choose the rounded entry wherever there is one.
    entries = {classify(name, alpha=alpha) for alpha in (1, 3)}
    for entry in entries:
        assert entry.reason
        if entry.operator_class is OperatorClass.ROUNDED:
            assert entry.scale in {*SCALES, MAGNITUDES}
        else:
            assert entry.scale == ""


@pytest.mark.parametrize("name", NAMES)
def test_every_rounded_entry_has_an_error_bound_and_one_with_long_sums_a_form(name):
    entry = classify(name, alpha=3)
    assert (entry.bound is not None) == (entry.operator_class is OperatorClass.ROUNDED)
    assert (entry.longest is not None) == (entry.kind in FORMS)


def test_every_scale_rule_has_an_operator():
    used = {classify(name, alpha=alpha).scale for name in NAMES for alpha in (1, 3)}
    assert used - {""} == {*SCALES, MAGNITUDES}


def test_every_core_operator_is_on_the_list_or_excluded_with_a_reason():
    core = core_operators()
    assert len(core) > 150  # the tags are there
    unlisted = [name for name in core if not is_allowed(f"aten.{name}")]
    unexplained = [name for name in unlisted if name not in EXCLUDED and name.split(".")[0] not in EXCLUDED]
    assert unexplained == []


def test_nothing_excluded_is_on_the_list():
    excluded = [name for name in NAMES if {name[5:], name[5:].split(".")[0]} & set(EXCLUDED)]
    # Other overloads of these may be: the excluded ones are named in full.
    assert excluded == []


@pytest.mark.parametrize("alpha", [1, -1, 1.0])
def test_addition_is_exact_with_alpha_one(alpha):
    assert classify("aten.add.Tensor", alpha=alpha).operator_class is OperatorClass.EXACT


@pytest.mark.parametrize("alpha", [2, 0.5, 0, None])
def test_addition_is_rounded_with_another_alpha_because_it_may_be_fused(alpha):
    assert classify("aten.add.Tensor", alpha=alpha).operator_class is OperatorClass.ROUNDED


def test_sums_of_integers_are_exact():
    assert classify("aten.sum.default", floating=False).operator_class is OperatorClass.EXACT
    assert classify("aten.sum.default", floating=True).operator_class is OperatorClass.ROUNDED
    assert classify("aten.cumsum.default", floating=False).operator_class is OperatorClass.EXACT
    assert classify("aten.cumsum.default", floating=True).operator_class is OperatorClass.ROUNDED


def test_an_operator_outside_the_list_has_no_class():
    with pytest.raises(KeyError):
        classify("aten.rand.default")
    assert not is_allowed("aten.rand.default")
