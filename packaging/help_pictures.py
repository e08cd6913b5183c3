"""Makes the pictures of the help pages from the tampered run of the demonstration, in every language of the window.

``make screenshots`` calls it: ``python packaging/help_pictures.py build/counterfoil-demo``
"""

from __future__ import annotations

import sys
from pathlib import Path

from pictured import wait, window_in_a_folder  # sets the platform before Qt is loaded
from PySide6.QtWidgets import QWidget

from counterfoil_app.demo import DemoFiles, name_keys
from counterfoil_app.driver.capture import settle
from counterfoil_app.looks.language import LANGUAGES
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow

ROOT = Path(__file__).resolve().parent.parent
HELP = ROOT / "resources" / "counterfoil_resources" / "help"
PICTURES = {"checks": 480, "divergence": 470, "merkle": 520, "dispute": 440}
"""The pictured views, by the names of their docks, and the height of each picture in pixels; of Merkle the tree."""
WIDTH = 640
SETTLE_MILLISECONDS = 600


def picture(window: MainWindow, files: DemoFiles, folder: Path) -> None:
    """Replay the tampered run in a window, and picture its views into a folder."""
    session = window.session
    name_keys(files, window.key_book)
    window.open_bundle(files.run("tampered"), files.order)
    wait(lambda: session.phase is Phase.READY and not session.checking)
    window.commands["replay"].trigger()
    wait(lambda: session.phase is Phase.CONCLUDED)
    window.dispute.details.button.setChecked(True)
    for name, height in PICTURES.items():
        for other, dock in window.docks.items():
            dock.setVisible(other == name)
        view: QWidget = window.merkle.scene if name == "merkle" else window.docks[name].widget()
        # What is around the view takes what it takes: the view itself gets the size of its picture.
        for _ in range(4):
            window.resize(window.width() + WIDTH - view.width(), window.height() + height - view.height())
            settle(SETTLE_MILLISECONDS)
        target = folder / f"{name}.png"
        if not view.grab().save(str(target), "PNG", 0):
            raise OSError(f"{target} cannot be written")
        print(target.relative_to(ROOT))


def main() -> None:
    """Make the pictures of all languages."""
    files = DemoFiles(Path(sys.argv[1]).resolve())
    for language in LANGUAGES:
        with window_in_a_folder(language) as (window, _folder):
            window.show()
            picture(window, files, HELP / language)


if __name__ == "__main__":
    main()
