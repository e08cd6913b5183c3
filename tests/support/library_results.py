"""Run as a program: computes every call of ``exact_calls`` on a number of threads, and prints the digests as JSON.

The instruction set is torch's choice, or that of the environment variable ATEN_CPU_CAPABILITY.
"""

from __future__ import annotations

import json
import sys

import torch

from support.exact_calls import all_calls, digest


def main(threads: int) -> None:
    torch.set_num_threads(threads)
    found = [[digest(result.numpy()) for result in call.run()[3]] for call in all_calls()]
    print(json.dumps({"capability": torch.backends.cpu.get_cpu_capability(), "digests": found}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
