"""``python -m counterfoil``: what the command ``counterfoil`` does."""

import sys

from counterfoil.cli import main

if __name__ == "__main__":
    sys.exit(main())
