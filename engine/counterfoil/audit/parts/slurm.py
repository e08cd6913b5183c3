"""A batch script for the Slurm scheduler that replays a run in parts. Pure."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from itertools import pairwise


def shares(segments: int, jobs: int) -> list[tuple[int, int]]:
    """Divide the segments 1 to ``segments`` into at most ``jobs`` stretches whose lengths differ by one at the most."""
    jobs = min(jobs, segments)
    ends = [segments * job // jobs for job in range(jobs + 1)]
    return [(first + 1, last) for first, last in pairwise(ends)]


def array_job(
    run: str, segments: int, jobs: int, seconds: float, *, options: Sequence[str] = (), gpu: bool = False
) -> str:
    """Return a script for ``sbatch``: an array of jobs, each of which writes one part.

    Args:
        run: The run, as every machine of the cluster names it.
        segments: Number of segments of the run.
        jobs: How many jobs, at most one for each segment.
        seconds: What the replay of one segment takes.
        options: Further options of ``counterfoil audit``, for instance ``--data``.
        gpu: Whether each job needs a GPU.
    """
    parts = shares(segments, jobs)
    longest = max(last - first + 1 for first, last in parts)
    # Twice what was measured, and five minutes for the start: a job that runs out of time writes what it has.
    minutes = math.ceil(2 * longest * seconds / 60) + 5
    command = shlex.join(["counterfoil", "audit", run, *options])
    lines = [
        "#!/bin/bash",
        "#SBATCH --job-name=counterfoil",
        f"#SBATCH --array=0-{len(parts) - 1}",
        f"#SBATCH --time={minutes}",
        "#SBATCH --ntasks=1",
        "#SBATCH --cpus-per-task=4",
        *(["#SBATCH --gres=gpu:1"] if gpu else []),
        "# Ends a job that runs out of time early enough for it to write what it has.",
        "#SBATCH --signal=B:TERM@60",
        "",
        f"segments=({' '.join(f'{first}-{last}' for first, last in parts)})",
        f"exec {command} \\",
        '    --threads "$SLURM_CPUS_PER_TASK" --segments "${segments[$SLURM_ARRAY_TASK_ID]}" \\',
        '    --partial "part-$SLURM_ARRAY_TASK_ID.part" --force',
    ]
    return "\n".join(lines) + "\n"
