"""The window's settings: typed, and versioned so that an old file is never misread."""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Generic, TypeVar, overload

from PySide6.QtCore import QByteArray, QSettings, QStandardPaths, QTemporaryDir

from counterfoil import CounterfoilError, trust_home
from counterfoil_core.base.sentence import say

SCHEMA_VERSION = 1
MAX_THREADS = 1024
MAX_WORKERS = 64
MOST_KEY_MINUTES = 480
TEXT_PERCENTS = (100, 125, 150, 175, 200)

Value = TypeVar("Value")


class ThemeChoice(Enum):
    """Which theme the window shows."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class Setting(Generic[Value]):
    """A value of :class:`Settings`; the name of the attribute is its key in the store.

    A store may hold anything: another program, an older Counterfoil or an editor wrote it.

    Args:
        read: Makes the value of what the store holds; whatever that is, None among it, the result can be used.
        write: Makes what the store holds of a value.
    """

    def __init__(self, read: Callable[[object], Value], write: Callable[[Value], object] = str) -> None:
        self._read = read
        self._write = write

    def __set_name__(self, owner: type[Settings], name: str) -> None:
        self.key = name

    @overload
    def __get__(self, settings: None, owner: type[Settings]) -> Setting[Value]: ...
    @overload
    def __get__(self, settings: Settings, owner: type[Settings]) -> Value: ...
    def __get__(self, settings: Settings | None, owner: type[Settings]) -> Setting[Value] | Value:
        return self if settings is None else self._read(settings.store.value(self.key))

    def __set__(self, settings: Settings, value: Value) -> None:
        settings.store.setValue(self.key, self._write(value))


# What the store holds, as values


def _text(held: object) -> str:
    return held if isinstance(held, str) else ""


def _texts(held: object) -> tuple[str, ...]:
    # An ini file gives a list of one back as a plain string.
    items = held if isinstance(held, list) else [held]
    return tuple(item for item in items if isinstance(item, str) and item and len(item) <= LONGEST_TEXT)[:MOST_TEXTS]


def _theme(held: object) -> ThemeChoice:
    return {choice.value: choice for choice in ThemeChoice}.get(_text(held), ThemeChoice.SYSTEM)


def _text_percent(held: object) -> int:
    text = _text(held)
    return int(text) if text in map(str, TEXT_PERCENTS) else TEXT_PERCENTS[0]


def _number(held: object, most: int) -> int | None:
    """A whole number from 1 on."""
    text = _text(held)
    short = text.isascii() and text.isdigit() and len(text) <= len(str(most))
    return int(text) if short and 1 <= int(text) <= most else None


def _folder(held: object) -> Path:
    # os.path, because pathlib's is_dir and is_file fail at a name that is too long for the system.
    return Path(_text(held)) if os.path.isdir(_text(held)) else Path.home()


def _file(held: object) -> Path | None:
    return Path(_text(held)) if os.path.isfile(_text(held)) else None


def _bytes(held: object) -> QByteArray:
    return held if isinstance(held, QByteArray) else QByteArray()


_LAYOUT = "layouts"
LONGEST_TEXT, MOST_TEXTS = 400, 8
"""Of lists of texts that the user keeps."""


# Values, as the store holds them


def _or_empty(value: object) -> str:
    return "" if value is None else str(value)


def _as_it_is(value: QByteArray) -> QByteArray:
    return value


def _yes_unless_no() -> Setting[bool]:
    return Setting(lambda held: held != "no", lambda wanted: "yes" if wanted else "no")


class Settings:
    """Typed access to a settings store.

    Args:
        store: Where the settings lie.
        folder: What :attr:`config_folder` is; None follows from the store.
    """

    theme = Setting(_theme, lambda choice: choice.value)
    """The chosen theme."""
    device = Setting(lambda held: _text(held) or "cpu")
    """Name of the device last chosen."""
    folder = Setting(_folder)
    """Folder in which a file dialog starts."""
    key_file = Setting(_file, _or_empty)
    """The private key last used to sign; None when there is none or it is gone."""
    key_minutes = Setting(lambda held: _number(held, MOST_KEY_MINUTES) or 0, str)
    """For how many minutes a private key stays unlocked after it signed; 0 locks it at once."""
    trainer_key_file = Setting(_file, _or_empty)
    """The private key last used to record; None when there is none or it is gone."""
    auditor_name = Setting(_text)
    """Who the auditor is, for the head of a report; empty at first."""
    language = Setting(_text)
    """Code of the chosen language, for instance ``de``; empty follows the system."""
    text_percent = Setting(_text_percent)
    """Size of the text in percent of the system's, one of :data:`TEXT_PERCENTS`."""
    threads = Setting(lambda held: _number(held, MAX_THREADS), _or_empty)
    """Threads of a replay on the CPU; None leaves the number to torch."""
    workers = Setting(lambda held: _number(held, MAX_WORKERS) or 1, str)
    """Processes that replay segments side by side; 1 for a replay without workers."""
    notify = _yes_unless_no()
    """Whether the end of a replay is notified when the window is not in front."""
    stay_awake = _yes_unless_no()
    """Whether the computer is kept awake during a replay."""
    searches = Setting(_texts, list)
    """Searches of the step table that the user keeps, newest first."""
    geometry = Setting(_bytes, _as_it_is)
    """Size and place of the window; empty at first."""

    def __init__(self, store: QSettings, *, folder: Path | None = None) -> None:
        self.store = store
        self._folder = folder
        self._scratch: QTemporaryDir | None = None
        if _text(store.value("schema")) != str(SCHEMA_VERSION):
            store.clear()
            store.setValue("schema", str(SCHEMA_VERSION))

    @classmethod
    def of_user(cls, *, fresh: bool = False, apart: bool = False) -> Settings:
        """The settings of the user who runs the program.

        Args:
            apart: Start without results, cases and known trainers too, which stay as they are; implies ``fresh``.
            fresh: Start without the stored settings, which stay as they are; what is changed is forgotten at the end.
                Results and known trainers are no settings: they are those of the user.
        """
        stored = cls(cls._stored())
        if not (fresh or apart):
            return stored
        scratch = QTemporaryDir()
        store = QSettings(scratch.filePath("window.ini"), QSettings.Format.IniFormat)
        settings = cls(store, folder=Path(scratch.path()) if apart else stored.config_folder)
        settings._scratch = scratch
        return settings

    @staticmethod
    def _stored() -> QSettings:
        """The user's store; raises CounterfoilError where something else than a file lies in its place.

        Qt would wait for ever for whoever writes into a pipe.
        """
        folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.GenericConfigLocation)
        place = Path(folder) / "Counterfoil" / "Counterfoil.conf"  # where Qt keeps it on systems that use files
        if place.exists() and not place.is_file():
            raise CounterfoilError(
                say("The settings of the window, {0}, are no file.", place),
                remedy=say("Remove what lies there, and start again: the window makes a new file."),
            )
        return QSettings("Counterfoil", "Counterfoil")

    @property
    def config_folder(self) -> Path:
        """Folder for files that belong to the user: beside the store where it is a file, else the platform's."""
        if self._folder is not None:
            return self._folder
        if self.store.format() is QSettings.Format.IniFormat:
            return Path(self.store.fileName()).parent
        return Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppConfigLocation))

    @property
    def trust_folder(self) -> Path:
        """Folder of the keys that the user trusts, which the command line reads too."""
        own = self._folder is None and self.store.format() is not QSettings.Format.IniFormat
        return trust_home() if own else self.config_folder / "trust"

    def layout(self, screen: str) -> QByteArray:
        """The layout of the views as it was left on screens of a class; empty at first."""
        return _bytes(self.store.value(f"{_LAYOUT}/{screen}"))

    def keep_layout(self, screen: str, layout: QByteArray) -> None:
        """Remember the layout of the views for screens of a class."""
        self.store.setValue(f"{_LAYOUT}/{screen}", layout)
