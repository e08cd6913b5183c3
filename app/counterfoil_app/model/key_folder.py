"""The folder that a new private key goes to."""

from __future__ import annotations

from pathlib import Path

from counterfoil_core.base.errors import KeyFileError
from counterfoil_core.base.sentence import say


def make_key_folder(folder: Path) -> None:
    """Make the folder of a new key, for its owner alone.

    Raises:
        KeyFileError: It cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise KeyFileError(
            say("The folder {0} for the key cannot be made: {1}.", folder, error.strerror or error),
            remedy=say("Choose another folder."),
        ) from error
