"""Looks for bytes in the memory of another process (Linux)."""

from __future__ import annotations

import re
from pathlib import Path

BLOCK = 2**24


def holds(process_id: int, needle: bytes) -> bool:
    """Whether any readable part of a process's memory holds some bytes; it should be stopped meanwhile.

    Raises:
        PermissionError: The process does not let itself be read.
    """
    process = Path(f"/proc/{process_id}")
    with (process / "mem").open("rb", buffering=0) as memory:
        for line in (process / "maps").read_text().splitlines():
            found = re.match(r"([0-9a-f]+)-([0-9a-f]+) r", line)
            if found is None or "[vvar" in line or "[vsyscall" in line:
                continue
            at, end = (int(part, 16) for part in found.groups())
            kept = b""
            while at < end:
                try:
                    memory.seek(at)
                    block = memory.read(min(BLOCK, end - at))
                except OSError:  # a guard page, or a file that was cut
                    break
                if not block:
                    break
                if needle in block or needle in kept + block[: len(needle)]:
                    return True
                kept = block[-len(needle) :]
                at += len(block)
    return False
