"""What an operator's substitute raises where the operator, used like this, has no form in a program."""

from __future__ import annotations

from counterfoil_core.base.errors import ProgramError


class NoFormError(ProgramError):
    """The rest of a sentence that begins with the module that was traced, and does not end yet: capture says where."""
