"""Times as files hold them: UTC in whole seconds (RFC 3339), for instance ``2025-01-31T12:00:00Z``."""

from __future__ import annotations

from datetime import UTC, datetime


def timestamp(moment: datetime | None = None) -> str:
    """Return a moment, with its zone, as files hold it; fractions of a second are left out. Without one: now."""
    return (moment or datetime.now(UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
