"""Makes the moving picture of README.md: twenty seconds of the window with the tampered run of the demonstration.

``make screenshots`` calls it: ``python packaging/moving_picture.py build/counterfoil-demo docs/images/replay.webp``
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from pictured import wait, window_in_a_folder  # sets the platform before Qt is loaded
from PIL import Image
from PySide6.QtCore import QBuffer, QIODevice, Qt

from counterfoil_app.demo import DemoFiles, name_keys
from counterfoil_app.driver.capture import settle
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow

SIZE = (1180, 700)
WIDTH = 940
"""Pixels of the picture's width; the window is drawn larger and made smaller."""
FRAME_MILLISECONDS = 250
SHOWN = (
    ("home", 2_000),
    ("open", 2_000),
    ("replay", 6_000),
    ("disputed", 3_500),
    ("divergence", 3_250),
    ("merkle", 3_250),
)
"""What is seen, in this order, and for how many milliseconds: twenty seconds in all."""


class Film:
    """Frames of a window, each shown for some time.

    Args:
        window: The window.
    """

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._frames: list[Image.Image] = []
        self._times: list[int] = []

    def shoot(self, milliseconds: int) -> None:
        """Take a picture of the window, to be shown for so long."""
        picture = self._window.grab().scaledToWidth(WIDTH, Qt.TransformationMode.SmoothTransformation)
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        picture.save(buffer, "PNG")  # type: ignore[call-overload]  # the stubs know bytes only
        self._frames.append(Image.open(BytesIO(bytes(buffer.data().data()))).convert("RGB"))
        self._times.append(milliseconds)

    def shoot_until(self, done: Callable[[], bool], milliseconds: int) -> None:
        """Take pictures until something is done, and let them take so long together."""
        first = len(self._frames)
        while not done():
            self.shoot(FRAME_MILLISECONDS)
            settle(FRAME_MILLISECONDS)
        most = max(1, milliseconds // FRAME_MILLISECONDS)
        taken, step = len(self._frames) - first, max(1, -(-(len(self._frames) - first) // most))
        kept = list(range(first, first + taken, step))
        self._frames[first:] = [self._frames[place] for place in kept]
        self._times[first:] = [milliseconds // max(1, len(kept))] * len(kept)

    def write(self, target: Path) -> None:
        """Write all of it as an animated WebP that begins anew at its end."""
        first, *others = self._frames
        first.save(target, save_all=True, append_images=others, duration=self._times, loop=0, quality=60, method=6)


def film(window: MainWindow, files: DemoFiles) -> Film:
    """Open the tampered run, replay it, and look at what differs."""
    session, result, times = window.session, Film(window), dict(SHOWN)
    name_keys(files, window.key_book)
    settle(1_000)
    result.shoot(times["home"])
    window.open_bundle(files.run("tampered"), files.order)
    wait(lambda: session.phase is Phase.READY and not session.checking)
    settle(500)
    result.shoot(times["open"])
    window.docks["divergence"].raise_()
    window.commands["replay"].trigger()
    result.shoot_until(lambda: session.phase is Phase.CONCLUDED, times["replay"])
    for view in ("dispute", "divergence", "merkle"):
        window.docks[view].raise_()
        settle(700)
        result.shoot(times["disputed" if view == "dispute" else view])
    return result


def main() -> None:
    """Make the picture."""
    files, target = DemoFiles(Path(sys.argv[1]).resolve()), Path(sys.argv[2])
    with window_in_a_folder() as (window, _folder):
        window.resize(*SIZE)
        window.show()
        film(window, files).write(target)
    print(f"{target}, {target.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
