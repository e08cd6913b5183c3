"""The command line.

Exit codes are those of :class:`counterfoil.Outcome`, 0 to 4. What needs torch or Qt is imported in the
command that needs it, so that ``--help`` answers at once and the engine works without a window.

One module for each group of commands; :mod:`counterfoil.cli.app` puts them together.
"""

import sys

from counterfoil.audit.boxed.start import start_early

start_early(sys.argv)
try:
    from counterfoil.cli.app import main
except KeyboardInterrupt:  # Loading takes half a second, in which nobody else would answer.
    print("INCONCLUSIVE  Stopped; nothing was concluded.", file=sys.stderr)
    sys.exit(2)

__all__ = ["main"]
