"""Settings as a file, to be taken to another machine or kept: written as JSON, and read strictly.

What belongs to one machine stays out: folders, the place of the private key, and the layout of the window.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from counterfoil import CounterfoilError
from counterfoil_app.model.settings import (
    LONGEST_TEXT,
    MAX_THREADS,
    MAX_WORKERS,
    MOST_TEXTS,
    TEXT_PERCENTS,
    Settings,
    ThemeChoice,
)
from counterfoil_core.base import canonical
from counterfoil_core.base.sentence import say

VERSION = 1
MAX_BYTES = 2**16
_LONGEST_NAME = 400
_Text = Annotated[str, Meta(max_length=LONGEST_TEXT)]


class SettingsFileError(CounterfoilError):
    """A file holds no settings that this version reads."""


class Portable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a settings file holds; the fields are those of :class:`Settings`."""

    counterfoil_settings: int  #: Version of the form.
    theme: ThemeChoice
    language: Annotated[str, Meta(pattern=r"\A(?:[a-z]{2})?\Z")]
    text_percent: int
    device: Annotated[str, Meta(pattern=r"\A(?:cpu|cuda(?::[0-9]{1,3})?)\Z")]
    threads: Annotated[int, Meta(ge=1, le=MAX_THREADS)] | None
    workers: Annotated[int, Meta(ge=1, le=MAX_WORKERS)]
    stay_awake: bool
    notify: bool
    auditor_name: Annotated[str, Meta(max_length=_LONGEST_NAME)]
    searches: Annotated[tuple[_Text, ...], Meta(max_length=MOST_TEXTS)]


_FIELDS = tuple(name for name in Portable.__struct_fields__ if name != "counterfoil_settings")


def export_settings(settings: Settings) -> bytes:
    """Return the settings as the bytes of a file."""
    held = Portable(VERSION, **{name: getattr(settings, name) for name in _FIELDS})
    return (json.dumps(msgspec.to_builtins(held), indent=1, ensure_ascii=True) + "\n").encode()


def read_settings(data: bytes) -> Portable:
    """Read the bytes of a settings file.

    Raises:
        SettingsFileError: They are none, or of another version, or a value is none that the setting can have.
    """
    try:
        if len(data) > MAX_BYTES:
            raise ValueError(say("it is too large"))
        held: Any = canonical.parse(data)
        if isinstance(held, dict) and held.get("counterfoil_settings", VERSION) != VERSION:
            raise ValueError(say("it is of another version of Counterfoil"))
        found = msgspec.convert(held, Portable, strict=True)
        if found.text_percent not in TEXT_PERCENTS:
            raise ValueError(say("{0} is no size of the text", found.text_percent))
    except (ValueError, CounterfoilError) as error:  # a validation error of msgspec is a ValueError
        raise SettingsFileError(
            say("The file holds no settings that can be used: {0}.", str(error).rstrip(".")),
            remedy=say("Nothing was changed. Choose a file that the preferences of this version exported."),
        ) from error
    return found


def take(held: Portable, settings: Settings) -> None:
    """Store the settings of a file; those that it does not hold stay as they are."""
    for name in _FIELDS:
        value = getattr(held, name)
        setattr(settings, name, list(value) if isinstance(value, tuple) else value)
