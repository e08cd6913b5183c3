"""Into which files weights go: one, or several with an index, named as transformers names them."""

from __future__ import annotations

from collections.abc import Mapping

MOST_BYTES = 50 * 10**9
"""Bytes of a file at most, as ``save_pretrained`` of transformers has it; a larger tensor has a file of its own."""


def into_files(sizes: Mapping[str, int], most: int = MOST_BYTES) -> dict[str, list[str]]:
    """Share tensors out.

    Args:
        sizes: The bytes of each tensor by name.
        most: Bytes of a file at most.

    Returns:
        The names of each file's tensors, in alphabetical order: ``model.safetensors``, or
        ``model-00001-of-00002.safetensors`` and so on.
    """
    groups: list[list[str]] = [[]]
    size = 0
    for name in sorted(sizes):
        if groups[-1] and size + sizes[name] > most:
            groups.append([])
            size = 0
        groups[-1].append(name)
        size += sizes[name]
    if len(groups) == 1:
        return {"model.safetensors": groups[0]}
    return {f"model-{n:05}-of-{len(groups):05}.safetensors": group for n, group in enumerate(groups, 1)}


def index_of(files: Mapping[str, list[str]], sizes: Mapping[str, int]) -> dict[str, object]:
    """Return what the index of several files says: their bytes, and in which of them each tensor lies."""
    return {
        "metadata": {"total_size": sum(sizes.values())},
        "weight_map": {name: file for file, names in files.items() for name in names},
    }
