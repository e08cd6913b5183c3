"""How many windows lie over one element: single operations of the exact profiles.

Apart from :mod:`.facts`, since the kernels count them the same way, and a judge must work where there are no kernels.
"""

from __future__ import annotations

from collections.abc import Mapping

from counterfoil_core.kernels.exact.limits import windows_over_one
from counterfoil_core.operators.limits import Limited
from counterfoil_core.operators.sums import Arguments, spatial


def _windows(arguments: Arguments) -> tuple[int]:
    return (windows_over_one(*(spatial(arguments[name], 2) for name in ("kernel_size", "stride", "dilation"))),)


LIMITS: Mapping[str, Limited] = {
    "col2im": Limited(terms=_windows),
    "unfold_backward": Limited(
        terms=lambda arguments: (windows_over_one([arguments["size"]], [arguments["step"]], [1]),)
    ),
}
"""By operator kind."""
