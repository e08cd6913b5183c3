"""A client's session on a real X server, with the real engine: an order from an empty desk, by keys alone.

Run as a program by tests/app/test_xvfb.py, which starts the server. Prints one line per thing done.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from counterfoil_app.model.order_plan import Stage
from support.x_input import CONTROL, XInput
from support.x_user import give_keyboard, until as until_in, window_in

until = partial(until_in, seconds=240.0)
"""The engine may work meanwhile."""


def main(folder: Path) -> None:
    """Order the digits: two steps, in small."""
    window = window_in(folder)
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
        give_keyboard(window)
        user.press(CONTROL, "q")
        until(lambda: not window.isVisible(), "Ctrl+Q closed the window")
    finally:
        user.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
