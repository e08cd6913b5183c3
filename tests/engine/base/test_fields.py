"""JSON objects of strangers: whatever stands in a field is taken, or refused by the error of whoever reads it."""

from __future__ import annotations

from typing import Any

import pytest

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import BundleError
from counterfoil_core.base.fields import Fields

GOOD = "0123456789abcdef" * 4
NO_DIGESTS = [
    ["0"] * 64,
    {f"{number:02d}": 0 for number in range(64)},
    {"0" * 64: 1},
    [],
    None,
    True,
    64,
    0.5,
    "",
    GOOD[:-1],
    GOOD + "0",
    GOOD.upper(),
    "g" * 64,
    GOOD[:-2] + "  ",
    GOOD + "\n",
    GOOD[:-1] + "\n",
    "\u0661" * 64,
]


@pytest.mark.parametrize("value", NO_DIGESTS, ids=lambda value: repr(value)[:24])
def test_what_is_no_digest_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="64 lower-case hexadecimal digits"):
        Digest.from_hex(value)
    with pytest.raises(BundleError):
        Fields({"root": value}, "run", BundleError).digest("root")
    with pytest.raises(BundleError, match="The proof is not a SHA-256 digest"):
        Fields({}, "run", BundleError).as_digest(value, "proof")


def test_a_digest_is_read() -> None:
    assert Fields({"root": GOOD}, "run", BundleError).digest("root").hex == GOOD
    assert Fields({}, "run", BundleError).as_digest(GOOD, "proof") == Digest.from_hex(GOOD)


@pytest.mark.parametrize("value", [["root"], "root", None, 3, True])
def test_what_is_no_object_is_refused(value: Any) -> None:
    with pytest.raises(BundleError, match="The run is not a JSON object"):
        Fields(value, "run", BundleError)
