"""Fuzzing in which coverage guides what is changed: libFuzzer, by way of atheris, makes the choices."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path


class Choices(random.Random):
    """Takes its choices from bytes, so that a change of the bytes changes some of the choices; zeros after them."""

    def __init__(self, data: bytes) -> None:
        """Take bytes."""
        super().__init__(0)
        self._data = data
        self._at = 0

    def getrandbits(self, k: int) -> int:
        """The next ``k`` bits."""
        length = (k + 7) // 8
        piece = self._data[self._at : self._at + length]
        self._at += length
        return int.from_bytes(piece, "little") & ((1 << k) - 1)

    def random(self) -> float:
        """A float in [0, 1) from the next two bytes."""
        return self.getrandbits(16) / 2**16


def guided(only: str, runs: int, seed: int) -> int:
    """Try ``runs`` cases for each target whose name holds ``only``, each in a process; returns 1 if one fails."""
    listed = subprocess.run([sys.executable, __file__], capture_output=True, text=True, check=True)
    failed = []
    for name in listed.stdout.splitlines():
        if only in name:
            arguments = [f"-runs={runs}", f"-seed={seed}", "-timeout=5", "-rss_limit_mb=4096", "-max_len=4096"]
            if subprocess.run([sys.executable, __file__, name, *arguments], check=False).returncode:
                failed.append(name)
    print("".join(f"\n- {name} failed" for name in failed) or "no case failed")
    return 1 if failed else 0


def _main() -> None:
    """Without arguments, print the targets; else fuzz the first one, with the others for libFuzzer."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    os.environ["OMP_NUM_THREADS"] = "1"
    import atheris

    from support.packages import PACKAGES

    # What numba compiles has no coverage that could be seen: not the entries of the log codec either.
    compiled = [
        ".".join(path.relative_to(package.parent).with_suffix("").parts)
        for package in PACKAGES
        for path in package.rglob("*.py")
        if "counterfoil_core.kernels.cache" in path.read_text(encoding="utf-8")
    ]
    with atheris.instrument_imports(include=[package.name for package in PACKAGES], exclude=compiled):
        from fuzz.targets import Corpus
    with tempfile.TemporaryDirectory() as folder:
        targets = {target.name: target for target in Corpus(Path(folder)).targets()}
        if len(sys.argv) == 1:
            print("\n".join(targets))
            return
        target = targets[sys.argv[1]]

        def try_one(data: bytes) -> None:
            chance = Choices(data)
            original = chance.choice(target.seeds)
            target.outcome(original, target.spoil(original, chance))

        atheris.Setup([sys.argv[0], *sys.argv[2:]], try_one)
        atheris.Fuzz()


if __name__ == "__main__":
    _main()
