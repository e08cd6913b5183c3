"""Makes an order's manifest say what its parts now are, as a liar does who holds no key but can hash."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from counterfoil_core.base import canonical
from counterfoil_core.commit.state import state_root, tensor_digest
from support.bundles import opened_for_change
from support.jobs import replace_bytes


def redigest(path: Path) -> None:
    """Put the digests of program, schedule, scalars, data and initial state into the manifest of a file.

    A part that a lie left in no form keeps the digest that it had.
    """
    with opened_for_change(path) as file:
        manifest: Any = json.loads(file["order/manifest"][...].tobytes())
        order = file["order"]
        program = order["program"][...].tobytes() if "program" in order else None
        arrays = {name: np.asarray(order[name][...]) for name in ("schedule", "scalars") if name in order}
        data, initial = (
            {name: np.asarray(item[...]) for name, item in order[group].items()} if group in order else {}
            for group in ("data", "initial")
        )
    if program is not None and isinstance(manifest.get("program"), str):
        manifest["program"] = hashlib.sha256(program).hexdigest()
    for name, array in arrays.items():
        if isinstance(manifest.get(name), dict):
            manifest[name]["digest"] = tensor_digest(name, array).hex
    for name, array in data.items():
        if isinstance(manifest.get("data"), dict) and isinstance(manifest["data"].get(name), dict):
            manifest["data"][name]["digest"] = tensor_digest(name, array).hex
    if data:
        manifest["data_root"] = state_root(data).hex
    if initial:
        manifest["initial_root"] = state_root(initial).hex
    try:
        written = canonical.encode(manifest)
    except canonical.CanonicalError:
        return
    replace_bytes(path, "/order/manifest", written)
