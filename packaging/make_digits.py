"""Makes resources/counterfoil_resources/data/digits.npz from scikit-learn's copy of the UCI digits.

Usage: pip download --no-deps scikit-learn; python packaging/make_digits.py scikit_learn-*.whl
"""

from __future__ import annotations

import gzip
import hashlib
import sys
import zipfile
from pathlib import Path

import numpy as np

MEMBER = "sklearn/datasets/data/digits.csv.gz"
SOURCE_SHA256 = "09f66e6debdee2cd2b5ae59e0d6abbb73fc2b0e0185d2e1957e9ebb51e23aa22"
TARGET = Path(__file__).parent.parent / "resources" / "counterfoil_resources" / "data" / "digits.npz"


def main(wheel: str) -> int:
    with zipfile.ZipFile(wheel) as archive:
        packed = archive.read(MEMBER)
    found = hashlib.sha256(packed).hexdigest()
    if found != SOURCE_SHA256:
        print(f"{MEMBER} has the SHA-256 {found}, not {SOURCE_SHA256}.", file=sys.stderr)
        return 1
    # One line per image: 64 pixel values (0 to 16) and the digit.
    table = np.loadtxt(gzip.decompress(packed).decode("ascii").splitlines(), delimiter=",", dtype=np.int64)
    images = table[:, :64].reshape(-1, 8, 8).astype(np.uint8)
    np.savez_compressed(TARGET, images=images, labels=table[:, 64].astype(np.uint8))
    print(f"{TARGET.name} {hashlib.sha256(TARGET.read_bytes()).hexdigest()}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
