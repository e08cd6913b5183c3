"""Run as a program: computes every call of ``exact_calls`` on some numbers of threads, and prints the digests as JSON.

The instruction set is torch's choice, or that of the environment variable ATEN_CPU_CAPABILITY.
"""

from __future__ import annotations

import json
import sys

import torch

from support.exact_calls import all_calls, digest


def main(threads: list[int]) -> None:
    found, calls = {}, all_calls()
    for count in threads:
        torch.set_num_threads(count)
        found[count] = [[digest(result.numpy()) for result in call.run()[3]] for call in calls]
    print(json.dumps({"capability": torch.backends.cpu.get_cpu_capability(), "digests": found}))


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]])
