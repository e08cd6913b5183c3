"""The command line.

Exit codes are those of :class:`counterfoil.Outcome`, 0 to 4. What needs torch or Qt is imported in the
command that needs it, so that ``--help`` answers at once and the engine works without a window.

One module for each group of commands; :mod:`counterfoil.cli.app` puts them together.
"""

from counterfoil.cli.app import main

__all__ = ["main"]
