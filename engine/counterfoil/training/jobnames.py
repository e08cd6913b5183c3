"""Jobs that a client names as ``package.module:function``."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from counterfoil.base.foreignerrors import theirs
from counterfoil.training.clientcode import place_failed, what_failed
from counterfoil.training.custom import ClientJob
from counterfoil_core.base.errors import CounterfoilError, DataError


def load_job(reference: str) -> ClientJob:
    """Import a module of the client's and call the function in it that makes the job.

    While that happens the current folder is the first in which modules are looked for.

    Args:
        reference: ``package.module:function``.

    Raises:
        DataError: There is no such module or function, it fails, or it does not return a CustomJob; the message names
            file and line where it failed.
        CounterfoilError: What the client's code got from Counterfoil itself.
    """
    name, _, attribute = reference.partition(":")
    if not attribute.isidentifier() or not all(part.isidentifier() for part in name.split(".")):
        raise DataError(
            f"{reference!r} does not name a function.", remedy="Write package.module:function, for instance job:make."
        )
    with _current_folder_first():
        module = _import(name)
        make = _function(module, attribute)
        try:
            job = make()
        except CounterfoilError:
            raise
        except BaseException as error:
            theirs(error)
            raise DataError(
                f"{reference} failed: {what_failed(error)}{place_failed(error, [__file__])}",
                remedy="Correct the code; it must return a counterfoil.CustomJob when called without arguments.",
                detail=traceback.format_exc(),
            ) from error
    if not isinstance(job, ClientJob):
        raise DataError(
            f"{reference} returned {type(job).__name__}, not a CustomJob.",
            remedy="Return counterfoil.CustomJob(...); docs/bring-your-own-model.md has an example.",
        )
    return job


@contextmanager
def _current_folder_first() -> Iterator[None]:
    folder = os.getcwd()
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise DataError(
                f"There is no module {name!r} in the folder {Path.cwd()} or among the installed packages.",
                remedy="Run the command in the folder that holds it.",
            ) from error
        raise DataError(
            f"The module {name!r} imports {error.name!r}, which is not installed{place_failed(error, [__file__])}",
            remedy="Install it in the environment that Counterfoil runs in.",
        ) from error
    except BaseException as error:
        theirs(error)
        raise DataError(
            f"The module {name!r} cannot be imported: {what_failed(error)}{place_failed(error, [__file__])}",
            remedy="Correct the code.",
            detail=traceback.format_exc(),
        ) from error


def _function(module: ModuleType, attribute: str) -> Callable[[], Any]:
    found = getattr(module, attribute, None)
    if callable(found):
        function: Callable[[], Any] = found
        return function
    what = "is no function" if hasattr(module, attribute) else "does not exist"
    raise DataError(
        f"{attribute!r} {what} in the module {module.__name__!r} ({module.__file__}).",
        remedy="Name a function without arguments that returns a counterfoil.CustomJob.",
    )
