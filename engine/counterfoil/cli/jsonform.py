"""What ``--json`` prints: the values of the engine for scripts, in ASCII."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Struct, structs

from counterfoil_core.base.canonical import MAX_EXACT_INTEGER
from counterfoil_core.base.digest import Digest
from counterfoil_core.signing.kinds import Named, Said
from counterfoil_core.statement.judgement import Signed

if TYPE_CHECKING:
    from counterfoil_core.values.steptable import Recorded
    from counterfoil_core.values.trust import Trust


def as_json(value: Any) -> Any:
    """Turn a frozen value of the library into JSON values.

    Digests become hexadecimal digits; integers that a JSON reader might change, and numbers that JSON does not know
    (infinities, not a number), become text.
    """
    if isinstance(value, Digest):
        return value.hex
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Signed):
        return {name: as_json(getattr(value, name)) for name in value.facts}
    if isinstance(value, Said):
        signed = {"key_id": value.key_id} if isinstance(value, Named) else {}
        return {name: item for name, item in _fields_of(value).items() if name != "public_key"} | signed
    if isinstance(value, Struct):
        return _fields_of(value)
    if is_dataclass(value):
        named = {field.name: getattr(value, field.name) for field in fields(value)}
        if "recorded" in named:
            named |= _columns(named.pop("recorded"))
        return {name: as_json(_named(name, item)) for name, item in named.items()}
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and abs(value) > MAX_EXACT_INTEGER:
        return str(value)
    return value


def _fields_of(value: Struct) -> dict[str, Any]:
    """The fields of a statement, without those that are not there."""
    return {name: as_json(item) for name, item in structs.asdict(value).items() if item is not UNSET}


def _columns(recorded: Recorded) -> dict[str, list[Any]]:
    """What the trainer recorded of each step stands beside what is known of the run."""
    return {
        "losses": recorded.trainer_loss.tolist(),
        "log_bytes": recorded.log_bytes.tolist(),
        "log_entries": recorded.log_entries.tolist(),
    }


def _named(name: str, value: Any) -> Any:
    """Environments are kept as sorted pairs; in JSON they are objects."""
    return dict(value) if name in ("environment", "trainer_environment") else value


def print_json(value: Any, trust: Trust | None = None, **more: Any) -> None:
    """Print a value of the library as JSON on standard output, in ASCII: a terminal may be what reads it.

    Args:
        value: The value.
        trust: What a conclusion rests on, beside it as ``trust``; None for none.
        more: What else stands beside it, by name.
    """
    said = as_json(value)
    if trust is not None:
        said["trust"] = as_json(trust) | {"level": trust.level.value, "reason": trust.reason}
    said |= {name: as_json(item) for name, item in more.items()}
    print(json.dumps(said, indent=2, ensure_ascii=True, allow_nan=False))
