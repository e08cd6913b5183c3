"""What is known of each operator: views, copies, paddings, constants, and the gradients of views."""

from counterfoil_core.operators.facts import COPIES, COUNTS, Trait, exact, rounded, view
from counterfoil_core.operators.moves import bounds

FACTS = (
    *view("view.default _unsafe_view.default _reshape_alias.default", Trait.SAME_ORDER, Trait.RESHAPES, Trait.RELABELS),
    *view("reshape.default", Trait.SAME_ORDER, Trait.RESHAPES),
    *view(
        """
        squeeze.default squeeze.dim squeeze.dims unsqueeze.default alias.default detach.default
        lift_fresh.default
    """,
        Trait.SAME_ORDER,
    ),
    *view("permute.default transpose.int t.default expand.default", Trait.OTHER_ORDER),
    *view("""
        slice.Tensor select.int diagonal.default split.Tensor split_with_sizes.default unbind.int unfold.default
        narrow.default unsafe_split.Tensor unsafe_split_with_sizes.default
    """),
    *exact(COPIES, "clone.default lift_fresh_copy.default view_copy.default", Trait.SAME_ORDER),
    *exact(COPIES, "_to_copy.default", casts=(0,)),
    *exact(COPIES, "copy.default", casts=(1,)),
    *exact(
        COPIES,
        """
        cat.default stack.default roll.default repeat.default select_backward.default slice_backward.default
        tril.default triu.default reflection_pad1d.default reflection_pad2d.default replication_pad1d.default
        replication_pad2d.default reflection_pad3d.default replication_pad3d.default pixel_shuffle.default
        pixel_unshuffle.default im2col.default unfold_copy.default
    """,
    ),
    *exact(COPIES, "constant_pad_nd.default", fills=2),
    *exact(COPIES, "flip.default permute_copy.default expand_copy.default", Trait.OTHER_ORDER),
    *exact(COPIES, "select_scatter.default slice_scatter.default diagonal_scatter.default", Trait.WRITES),
    *exact("fills with a constant", "full.default", Trait.MAKES, fills=1),
    *exact("fills with a constant", "full_like.default fill.Scalar", fills=1),
    *exact("fills with a constant", "zeros.default ones.default eye.default eye.m", Trait.MAKES),
    *exact("fills with a constant", "zeros_like.default ones_like.default new_zeros.default new_ones.default"),
    *exact("fills with a constant", "new_full.default", fills=2),
    *exact("fills with a constant", "scalar_tensor.default", Trait.MAKES, fills=0),
    *exact(COUNTS, "arange.default arange.start arange.start_step", Trait.MAKES),
    *rounded(
        "magnitudes",
        bounds.padding,
        """
        reflection_pad1d_backward.default reflection_pad2d_backward.default replication_pad1d_backward.default
        replication_pad2d_backward.default
    """,
        Trait.SUMS,
    ),
    *rounded("magnitudes", bounds.overlapping, "unfold_backward.default col2im.default", Trait.SUMS),
)
