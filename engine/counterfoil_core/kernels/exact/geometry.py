"""Where kernels, windows and axes lie: which elements they read, and which of them read one element."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import pad


@dataclass(frozen=True)
class Geometry:
    """How a kernel moves, along each spatial axis; 1 to 3 of them."""

    stride: tuple[int, ...]  #: Elements from one position to the next.
    padding: tuple[int, ...]  #: Zeros on both sides.
    dilation: tuple[int, ...]  #: Elements from one element under the kernel to the next.
    groups: int = 1  #: Groups of channels that do not meet.

    def positions(self, size: Sequence[int], kernel: Sequence[int]) -> list[int]:
        """Return how many positions a kernel has along each axis."""
        return [
            (length + 2 * zeros - reach * (taps - 1) - 1) // step + 1
            for length, taps, step, zeros, reach in zip(
                size, kernel, self.stride, self.padding, self.dilation, strict=True
            )
        ]

    def library_arguments(self) -> tuple[list[int], list[int], list[int], bool, list[int], int]:
        """Stride, padding, dilation, transposed, output padding, groups."""
        none = [0] * len(self.stride)
        return list(self.stride), list(self.padding), list(self.dilation), False, none, self.groups


def windows(x: Tensor, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> Tensor:
    """Return all windows over the last axes of a tensor, which is padded already, as a view.

    Args:
        x: Any dtype ``[..., *spatial]``, contiguous.
        kernel: Elements of a window along each spatial axis.
        stride: Elements from one window to the next.
        dilation: Elements from one element of a window to the next.

    Returns:
        ``[..., *positions, *kernel]``, of the same memory.
    """
    axes = len(kernel)
    sizes, steps = x.shape[-axes:], x.stride()[-axes:]
    positions = [
        max((size - d * (taps - 1) - 1) // s + 1, 0)
        for size, taps, s, d in zip(sizes, kernel, stride, dilation, strict=True)
    ]
    leading = x.dim() - axes
    return x.as_strided(
        (*x.shape[:leading], *positions, *kernel),
        (
            *x.stride()[:leading],
            *(step * s for step, s in zip(steps, stride, strict=True)),
            *(step * d for step, d in zip(steps, dilation, strict=True)),
        ),
        x.storage_offset(),
    )


def runs(shape: Sequence[int], summed: Sequence[int]) -> list[int]:
    """Return the lengths of kept, summed, kept, summed, ... axes, neighbours of one kind taken together: 4 at least."""
    lengths = [1]
    for axis, length in enumerate(shape):
        if length == 1:
            continue
        # Kept axes have even places.
        if (len(lengths) % 2 == 0) != (axis in summed):
            lengths.append(1)
        lengths[-1] *= length
    # Summed axes that come last are the inner ones.
    return [lengths[0], 1, 1, lengths[1]] if len(lengths) == 2 else lengths + [1] * (4 - len(lengths))


def both_sides(padding: Sequence[int]) -> list[int]:
    """Padding as :func:`torch.nn.functional.pad` wants it: the last axis first, both sides of each."""
    return [p for p in reversed(padding) for _ in range(2)]


def spread(g: Tensor, size: Sequence[int], kernel: Sequence[int], geometry: Geometry) -> Tensor:
    """Put zeros between and around a gradient, so that the turned kernel moves over it in steps of one.

    Returns:
        ``[N, O, *(size + dilation * (kernel - 1))]``, contiguous.
    """
    margins: list[int] = []
    for axis in range(len(size) - 1, -1, -1):
        stride, reach = geometry.stride[axis], geometry.dilation[axis] * (kernel[axis] - 1)
        before = reach - geometry.padding[axis]
        length = (g.shape[2 + axis] - 1) * stride + 1
        margins += [before, size[axis] + reach - before - length]
    between = g.new_zeros((*g.shape[:2], *((n - 1) * s + 1 for n, s in zip(g.shape[2:], geometry.stride, strict=True))))
    between[(slice(None), slice(None), *(slice(None, None, s) for s in geometry.stride))] = g
    return pad(between, margins).contiguous()
