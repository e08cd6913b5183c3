"""The libraries of the extra ``hf``, loaded when they are needed and kept from the network."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from counterfoil_core.base.errors import DataError

_OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}


def library(name: str, what: str) -> ModuleType:
    """Import a library of the extra ``hf``.

    Args:
        name: The module.
        what: What needs it, to begin the sentence of an error with.

    Raises:
        DataError: It is not installed.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = (error.name or name).partition(".")[0]
        raise DataError(
            f"{what} needs the library {missing}, which is not installed.",
            remedy="Install it with: pip install 'counterfoil[hf]'.",
        ) from error


@contextmanager
def offline() -> Iterator[None]:
    """Tell the libraries of Hugging Face that there is no network, and to print nothing, as long as the block lasts.

    Raises:
        DataError: They are not installed.
    """
    before = {name: os.environ.get(name) for name in _OFFLINE}
    os.environ.update(_OFFLINE)
    try:
        # These look at the environment when they are imported, which others may have done before.
        constants = library("huggingface_hub.constants", "A model of Hugging Face")
        logging = library("transformers.utils.logging", "A model of Hugging Face")
        was, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, True  # type: ignore[attr-defined]
        verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        try:
            yield
        finally:
            constants.HF_HUB_OFFLINE = was  # type: ignore[attr-defined]
            logging.set_verbosity(verbosity)
            if bars:
                logging.enable_progress_bar()
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
