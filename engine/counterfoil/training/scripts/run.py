"""Run a training script as it is, up to where its training begins."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import torch.distributed as dist

from counterfoil.base.foreignerrors import theirs
from counterfoil.training.clientcode import place_failed, what_failed
from counterfoil.training.scripts import fits, trainers
from counterfoil.training.scripts.handover import HandedOver, ScriptOrder, Wanted
from counterfoil.training.scripts.mainmodule import run_as_main
from counterfoil.training.scripts.patches import Patch, Patches, patch_modules
from counterfoil.training.scripts.workfolder import WorkFolder
from counterfoil_core.base.errors import CounterfoilError, DataError

# The libraries whose training loops are taken over, and where these begin.


@dataclass(frozen=True)
class Takeover:
    """A training loop of a library's."""

    module: str  #: The module that holds it; nothing happens unless the script imports it.
    patch: Callable[[Any, Wanted, Patches], None]  #: Puts what hands over in the place where the loop begins.


TAKEOVERS = (
    Takeover(trainers.ARGUMENTS_MODULE, trainers.stay_on_the_processor),
    Takeover(trainers.MODULE, trainers.take_over),
    *(Takeover(module, fits.take_over) for module in fits.MODULES),
)

Around = Callable[[Callable[[], None]], ScriptOrder | None]
"""Is given what runs the script, once; returns the order that it made of it, or None for none. What is raised within
must go on."""
_REMEDY = (
    "Say in the script what its loop does, with counterfoil.loop, or return its parts as a counterfoil.CustomJob "
    "(docs/for-trainers.md). What scores a model is ordered by 'counterfoil order evaluate --script'."
)

_MODES = (torch._C.DispatchKey.Python, torch._C.DispatchKey.PythonTLSSnapshot)
"""What torch dispatches by while a mode of Python is active."""


def run_script(
    script: str | os.PathLike[str],
    arguments: Sequence[str],
    wanted: Wanted,
    *,
    around: Around | None = None,
    folder: WorkFolder | None = None,
) -> ScriptOrder:
    """Run a script as Python runs it, and return the order of the training that it begins. Nothing is trained.

    Args:
        script: The script.
        arguments: What it finds behind its name in ``sys.argv``.
        wanted: What is wanted of the order besides.
        around: Runs the script itself, and may make an order of what it does.
        folder: The private copy of the working folder that it runs in; None for the working folder itself.

    Raises:
        DataError: There is no such script, it fails (the message names file and line), or it ends before it begins a
            training that can be ordered.
        CounterfoilError: What the training that it begins cannot be ordered for.
    """
    path = Path(script)
    if not path.is_file():
        raise DataError(f"There is no script {path}.", remedy="Name a file of Python's: --script train.py.")
    made = None
    with _as_it_was(), patch_modules(_patches(wanted)):
        lies = path.resolve()
        if folder is not None:
            lies = folder.private(lies)
            os.chdir(folder.path)

        def run() -> None:
            run_as_main(lies, os.fspath(path.absolute()), arguments)

        try:
            if around is None:
                run()
            else:
                made = around(run)
        except HandedOver as handed:
            made = handed.order
        except CounterfoilError:
            raise
        except SystemExit as ended:
            if ended.code not in (None, 0) and wanted.found is None:
                how = f": {ended.code}" if isinstance(ended.code, str) else f" with the exit code {ended.code}"
                raise DataError(
                    f"{path.name} ended before it began to train{how.rstrip('.')}.",
                    remedy="Give it its arguments behind --, as in: --script train.py --out job.cfoil -- --lr 0.001.",
                ) from ended
        except BaseException as error:
            theirs(error)
            if wanted.found is None:
                raise DataError(
                    f"{path.name} failed: {what_failed(error)}{place_failed(error, [__file__])}",
                    remedy="Correct the script, or its arguments behind --.",
                    detail=traceback.format_exc(),
                ) from error
    made = made or wanted.found
    if made is None and wanted.evaluates:
        raise DataError(
            f"{path.name} ended, and called no model.",
            remedy="Call a torch.nn.Module with parameters for each batch, in the script's own process.",
        )
    if made is None:
        raise DataError(f"{path.name} ended, and no training began that can be ordered.", remedy=_REMEDY)
    return made


def _patches(wanted: Wanted) -> dict[str, Patch]:
    def patch(takeover: Takeover) -> Callable[[ModuleType, Patches], None]:
        return lambda module, patches: takeover.patch(module, wanted, patches)

    return {takeover.module: patch(takeover) for takeover in TAKEOVERS if wanted.takeovers}


@contextmanager
def _as_it_was() -> Iterator[None]:
    """Put back what a script, and what runs it, change of the process: its paths, its folder, and torch's switches."""
    arguments, paths, folder = sys.argv, list(sys.path), os.getcwd()
    gradients, dtype, threads = torch.is_grad_enabled(), torch.get_default_dtype(), torch.get_num_threads()
    mixed, finer = torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
    strict, warns = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    grouped = dist.is_available() and dist.is_initialized()
    keys = {key: torch._C._dispatch_tls_is_dispatch_key_included(key) for key in _MODES}
    try:
        yield
    finally:
        for key, included in keys.items():
            # A script that is ended within torch.inference_mode puts back, as it leaves it, the modes of the follower.
            torch._C._dispatch_tls_set_dispatch_key_included(key, included)
        if dist.is_available() and dist.is_initialized() and not grouped:
            # A script that is followed once more begins its process group once more.
            dist.destroy_process_group()
        sys.argv, sys.path[:] = arguments, paths
        os.chdir(folder)
        torch.set_grad_enabled(gradients)
        torch.set_default_dtype(dtype)
        torch.set_num_threads(threads)
        # A script that was ended within torch.autocast never leaves it.
        torch.set_autocast_enabled("cpu", mixed)
        torch.set_autocast_dtype("cpu", finer)
        torch.clear_autocast_cache()
        torch.use_deterministic_algorithms(strict, warn_only=warns)
