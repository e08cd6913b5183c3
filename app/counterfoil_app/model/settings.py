"""The window's settings: typed, and versioned so that an old file is never misread."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings, QStandardPaths

SCHEMA_VERSION = 1
MAX_RECENT = 10
MAX_KEYS = 20
MAX_THREADS = 1024
TEXT_PERCENTS = (100, 125, 150, 175, 200)


class ThemeChoice(Enum):
    """Which theme the window shows."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class Settings:
    """Typed access to a settings store.

    Args:
        store: Where the settings lie.
        fresh: Start without the stored settings.
    """

    def __init__(self, store: QSettings, *, fresh: bool = False) -> None:
        self._store = store
        if fresh or self._text("schema") != str(SCHEMA_VERSION):
            store.clear()
            store.setValue("schema", str(SCHEMA_VERSION))

    @classmethod
    def of_user(cls, *, fresh: bool = False) -> Settings:
        """The settings of the user who runs the program."""
        return cls(QSettings("Counterfoil", "Counterfoil"), fresh=fresh)

    @property
    def config_folder(self) -> Path:
        """Folder for files that belong to the settings: beside the store where it is a file, else the platform's."""
        if self._store.format() is QSettings.Format.IniFormat:
            return Path(self._store.fileName()).parent
        return Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppConfigLocation))

    @property
    def theme(self) -> ThemeChoice:
        """The chosen theme."""
        text = self._text("theme")
        known = {choice.value: choice for choice in ThemeChoice}
        return known.get(text, ThemeChoice.SYSTEM)

    @theme.setter
    def theme(self, choice: ThemeChoice) -> None:
        self._store.setValue("theme", choice.value)

    @property
    def device(self) -> str:
        """Name of the device last chosen."""
        return self._text("device") or "cpu"

    @device.setter
    def device(self, name: str) -> None:
        self._store.setValue("device", name)

    @property
    def folder(self) -> Path:
        """Folder in which a file dialog starts."""
        folder = Path(self._text("folder"))
        return folder if self._text("folder") and folder.is_dir() else Path.home()

    @folder.setter
    def folder(self, folder: Path) -> None:
        self._store.setValue("folder", str(folder))

    @property
    def key_file(self) -> Path | None:
        """The private key last used to sign; None when there is none or it is gone."""
        path = Path(self._text("key_file"))
        return path if self._text("key_file") and path.is_file() else None

    @key_file.setter
    def key_file(self, path: Path | None) -> None:
        self._store.setValue("key_file", "" if path is None else str(path))

    @property
    def language(self) -> str:
        """Code of the chosen language, for instance ``de``; empty follows the system."""
        return self._text("language")

    @language.setter
    def language(self, code: str) -> None:
        self._store.setValue("language", code)

    @property
    def text_percent(self) -> int:
        """Size of the text in percent of the system's, one of :data:`TEXT_PERCENTS`."""
        text = self._text("text_percent")
        return int(text) if text in map(str, TEXT_PERCENTS) else TEXT_PERCENTS[0]

    @text_percent.setter
    def text_percent(self, percent: int) -> None:
        self._store.setValue("text_percent", str(percent))

    @property
    def threads(self) -> int | None:
        """Threads of a replay on the CPU; None leaves the number to torch."""
        text = self._text("threads")
        return int(text) if text.isascii() and text.isdigit() and 1 <= int(text) <= MAX_THREADS else None

    @threads.setter
    def threads(self, count: int | None) -> None:
        self._store.setValue("threads", "" if count is None else str(count))

    @property
    def notify(self) -> bool:
        """Whether the end of a replay is notified when the window is not in front."""
        return self._text("notify") != "no"

    @notify.setter
    def notify(self, wanted: bool) -> None:
        self._store.setValue("notify", "yes" if wanted else "no")

    @property
    def stay_awake(self) -> bool:
        """Whether the computer is kept awake during a replay."""
        return self._text("stay_awake") != "no"

    @stay_awake.setter
    def stay_awake(self, wanted: bool) -> None:
        self._store.setValue("stay_awake", "yes" if wanted else "no")

    @property
    def recent(self) -> tuple[Path, ...]:
        """Bundles opened last, newest first; only those that still exist."""
        return tuple(path for path in map(Path, self._texts("recent")) if path.is_file())

    def add_recent(self, path: Path) -> None:
        """Put a bundle at the head of the recent ones; each stands there once."""
        path = path.resolve()
        others = [old for old in self.recent if old != path]
        self._store.setValue("recent", [str(item) for item in (path, *others)[:MAX_RECENT]])

    def clear_recent(self) -> None:
        """Forget the recent bundles."""
        self._store.remove("recent")

    @property
    def auditor_keys(self) -> tuple[Path, ...]:
        """Public keys that the user chose to check verdicts with, newest first; only those that still exist."""
        return tuple(path for path in map(Path, self._texts("auditor_keys")) if path.is_file())

    def add_auditor_key(self, path: Path) -> None:
        """Put a public key at the head of those that verdicts are checked with."""
        path = path.resolve()
        others = [old for old in self.auditor_keys if old != path]
        self._store.setValue("auditor_keys", [str(item) for item in (path, *others)[:MAX_KEYS]])

    @property
    def geometry(self) -> QByteArray:
        """Size and place of the window; empty at first."""
        return self._bytes("geometry")

    @geometry.setter
    def geometry(self, value: QByteArray) -> None:
        self._store.setValue("geometry", value)

    @property
    def layout(self) -> QByteArray:
        """Layout of the views; empty at first."""
        return self._bytes("layout")

    @layout.setter
    def layout(self, value: QByteArray) -> None:
        self._store.setValue("layout", value)

    def _text(self, key: str) -> str:
        value = self._store.value(key)
        return value if isinstance(value, str) else ""

    def _texts(self, key: str) -> list[str]:
        value = self._store.value(key)
        if isinstance(value, str):  # an ini file gives a list of one back as a plain string
            return [value]
        return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []

    def _bytes(self, key: str) -> QByteArray:
        value = self._store.value(key)
        return value if isinstance(value, QByteArray) else QByteArray()
