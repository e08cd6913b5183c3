"""``python -m counterfoil.signer``: started by :mod:`counterfoil.signer.client`, not by people."""

import sys

from counterfoil.signer.server import main

if __name__ == "__main__":
    sys.exit(main())
