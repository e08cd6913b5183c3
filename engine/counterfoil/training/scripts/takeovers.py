"""The libraries whose training loops are taken over, and where these begin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from counterfoil.training.scripts import fits, trainers
from counterfoil.training.scripts.handing import Wanted
from counterfoil.training.scripts.patches import Patches


@dataclass(frozen=True)
class Takeover:
    """A training loop of a library's."""

    module: str  #: The module that holds it; nothing happens unless the script imports it.
    patch: Callable[[Any, Wanted, Patches], None]  #: Puts what hands over in the place where the loop begins.


TAKEOVERS = (
    Takeover(trainers.ARGUMENTS_MODULE, trainers.stay_on_the_processor),
    Takeover(trainers.MODULE, trainers.take_over),
    *(Takeover(module, fits.take_over) for module in fits.MODULES),
)
