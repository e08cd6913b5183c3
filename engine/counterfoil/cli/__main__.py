"""``python -m counterfoil.cli``: what the command ``counterfoil`` does."""

import sys

from counterfoil.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
