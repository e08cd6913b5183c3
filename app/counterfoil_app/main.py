"""Starts the window."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from counterfoil import __version__
from counterfoil_app.desktop import startup
from counterfoil_app.desktop.collector import Collector
from counterfoil_app.desktop.interrupts import Interrupts
from counterfoil_app.engine.elsewhere import Elsewhere, FarEngine
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.process import ProcessEngine
from counterfoil_app.looks.fonts import apply_text_size
from counterfoil_app.looks.language import Translations, choose_language
from counterfoil_app.looks.theme import Theme
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell.editing import TABS
from counterfoil_app.shell.records import records_folder
from counterfoil_app.shell.shell import DESKTOP_ID
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views import layouts
from counterfoil_app.views.far_files import FarFiles

TRANSLATIONS = Translations()
"""The catalogues in use: Qt keeps them for the process, and they must outlive every window."""


def application() -> QApplication:
    """The one QApplication of the process, made on the first call.

    Raises:
        CounterfoilError: There is no display to show a window on.
    """
    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    startup.check_display(os.environ)
    QGuiApplication.setDesktopFileName(DESKTOP_ID)
    result = QApplication(sys.argv[:1])
    result.setApplicationName("Counterfoil")
    result.setApplicationVersion(__version__)
    return result


def make_window(*, fresh: bool = False, engine: Engine | None = None, settings: Settings | None = None) -> MainWindow:
    """Make the window, not yet shown.

    Args:
        fresh: Start without the stored settings.
        engine: The engine; the installed library, in a process of its own, unless given.
        settings: The settings; the user's unless given.

    Raises:
        CounterfoilError: There is no display to show a window on, or the font cannot be loaded.
    """
    qt = application()
    if engine is None:
        engine = ProcessEngine()
        engine.start()  # it loads while the window is made
    settings = settings if settings is not None else Settings.of_user(fresh=fresh)
    TRANSLATIONS.install(choose_language(settings.language))
    apply_text_size(qt, settings.text_percent)
    theme = Theme(qt, settings.theme)
    window = MainWindow(engine, settings, theme)
    theme.setParent(window)
    theme.put_on()
    return window


def spare_the_collector() -> None:
    """Keep modules and the window itself, which live to the end, from being looked through for garbage again and again.

    Python looks through all objects at once, in the middle of anything: with some 80,000 of them that takes 50 ms.
    """
    gc.collect()
    gc.freeze()


@dataclass(frozen=True)
class Shown:
    """What of a run is shown first; None for what always is."""

    step: int | None = None  #: The step.
    tab: str | None = None  #: The view, by the name that ``counterfoil gui`` takes.


def run(
    paths: Sequence[Path] = (),
    order: Path | None = None,
    place: Shown = Shown(),
    *,
    fresh: bool = False,
    safe: bool = False,
    engine: str | None = None,
) -> int:
    """Show the window until it is closed.

    Args:
        paths: What to open: a bundle, several to be replayed one after the other, or a verdict to be read.
        order: The client's order file to compare a single bundle with.
        place: What of it is shown first.
        fresh: Start without the stored settings.
        safe: Start without anything that is stored, and let Qt draw by itself; nothing of it is kept.
        engine: The machine that has the files and works, ``ssh://[user@]host[:port]``; None for this one.

    Returns:
        The exit code of the event loop.

    Raises:
        CounterfoilError: There is no display to show a window on, or ``engine`` names no machine.
    """
    far = None if engine is None else FarEngine(Elsewhere.read(engine))
    files = None if far is None else FarFiles(far)
    if far is not None:
        for path in (*paths, *([] if order is None else [order])):
            far.note_file(path)
        far.start()
    layouts.ask_elsewhere(files)
    if safe:
        startup.draw_in_software(os.environ)
    window = make_window(engine=far, settings=Settings.of_user(fresh=fresh, apart=safe))
    window.shell.keep_records(records_folder())
    if safe:
        window.shell.say_safe_mode()
    window.show()
    spare_the_collector()
    collector = Collector(application())
    if len(paths) == 1 and (order is not None or place != Shown()):
        window.open_bundle(paths[0], order)
        window.show_place(place.step, "" if place.tab is None else TABS[place.tab])
    else:
        window.open_files(paths)
    window.session.look_for_devices()
    window.shell.guard.install()
    interrupts = Interrupts(window)
    try:
        return application().exec()
    finally:
        collector.stop()
        interrupts.uninstall()
        window.shell.guard.uninstall()
        layouts.ask_elsewhere(None)
        if files is not None:
            files.shut_down()
