"""A client's session on a real X server, with the real engine: an order from an empty desk, by keys alone.

Run as a program by tests/app/test_xvfb.py, which starts the server. Prints one line per thing done.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication

from counterfoil_app.engine.process import ProcessEngine
from counterfoil_app.main import application, make_window
from counterfoil_app.model.order_plan import Stage
from counterfoil_app.model.settings import Settings
from support.x_input import CONTROL, XInput

SECONDS = 240.0


def until(done: Callable[[], bool], what: str) -> None:
    """Let the window work until something has happened."""
    deadline = time.monotonic() + SECONDS
    while not done():
        QApplication.processEvents()
        time.sleep(0.005)
        if time.monotonic() > deadline:
            picture = Path(sys.argv[1]) / "failed.png"
            QApplication.primaryScreen().grabWindow(0).save(str(picture))
            sys.exit(f"gave up waiting for {what}; the screen is in {picture}")
    print(what, flush=True)


def main(folder: Path) -> None:
    """Order the digits: two steps, in small."""
    application()
    settings = Settings(QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat))
    settings.language = "en"
    settings.notify = settings.stay_awake = False
    settings.folder = folder
    window = make_window(engine=ProcessEngine(), settings=settings)
    window.show()
    until(window.windowHandle().isExposed, "the window is shown")
    window.activateWindow()
    until(window.isActiveWindow, "the window has the keyboard")
    user = XInput()
    try:
        user.press(CONTROL, "n")
        until(lambda: window.orders.wizard is not None, "Ctrl+N opened the wizard")
        wizard = window.orders.wizard
        assert wizard is not None
        wizard.activateWindow()  # there is no window manager on this server
        until(wizard.what.forms.hasFocus, "the list of what can be trained has the keyboard")
        user.press("Down")
        until(lambda: wizard.plan.form.name == "resnet", "Down chose the next")
        user.press("Up")
        until(lambda: wizard.plan.form.name == "digits-cnn", "Up chose the digits")
        user.press("Return")
        until(lambda: wizard.stage is Stage.DATA, "Enter went on to the data")
        until(lambda: wizard.data.preview.images.shown > 0, "the first digits are shown")
        user.press("Return")
        until(lambda: wizard.stage is Stage.SETTINGS, "Enter went on to the settings")
        for name, text in (("width", "4"), ("steps", "2"), ("batch_size", "8")):
            until(wizard.settings.fields[0].controls[name].hasFocus, f"Tab led to {name}")
            user.press(CONTROL, "a")
            user.press(text)
            until(lambda name=name, text=text: wizard.plan.value(name) == text, f"{name} was typed")
            user.press("Tab")
        user.press("Return")
        until(lambda: wizard.stage is Stage.TRY, "Enter went on to the first step")
        until(wizard.next.hasFocus, "the button that tries it has the keyboard")
        user.press("Return")
        until(lambda: wizard.ordering.working, "Enter began the trial")
        until(lambda: wizard.ordering.written is not None, "the first step was tried")
        until(wizard.next.hasFocus, "the button that goes on has the keyboard")
        user.press("Return")
        until(lambda: wizard.stage is Stage.SAVE, "Enter showed the card")
        until(wizard.saving.save.hasFocus, "the button that saves has the keyboard")
        user.press("Return")
        until(lambda: wizard.saved is not None, "Enter saved the order")
        assert wizard.ordering.written is not None
        print(f"digest {wizard.ordering.written.digest}", flush=True)
        user.press("Return")
        until(lambda: window.orders.wizard is None, "Enter closed the wizard")
        window.activateWindow()
        until(window.isActiveWindow, "the window has the keyboard again")
        user.press(CONTROL, "q")
        until(lambda: not window.isVisible(), "Ctrl+Q closed the window")
    finally:
        user.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
