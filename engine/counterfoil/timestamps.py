"""Times as files hold them: UTC in whole seconds (RFC 3339), for instance ``2025-01-31T12:00:00Z``."""

from __future__ import annotations

from datetime import UTC, datetime

_FORM = "%Y-%m-%dT%H:%M:%SZ"


def timestamp(moment: datetime | None = None) -> str:
    """Return a moment, with its zone, as files hold it; fractions of a second are left out. Without one: now."""
    return (moment or datetime.now(UTC)).astimezone(UTC).strftime(_FORM)


def check_timestamp(text: str) -> str:
    """Return a text that is a moment in the form of :func:`timestamp`; raises ValueError for any other."""
    moment = datetime.strptime(text, _FORM).replace(tzinfo=UTC)
    if moment.strftime(_FORM) != text:  # strptime takes digits of other scripts, and fewer of them
        raise ValueError(f"{text!r} is not a time")
    return text
