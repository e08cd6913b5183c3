"""Times as files hold them: UTC in whole seconds (RFC 3339), for instance ``2025-01-31T12:00:00Z``."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_FORM = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")


def timestamp(moment: datetime | None = None) -> str:
    """Return a moment, with its zone, as files hold it; fractions of a second are left out. Without one: now."""
    return (moment or datetime.now(UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_timestamp(text: str) -> datetime:
    """Read a moment in exactly that form.

    Raises:
        ValueError: It is in another form, or there is no such moment.
    """
    if not _FORM.fullmatch(text):
        raise ValueError("a time is written as 2025-01-31T12:00:00Z")
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
