"""The plain run of a script: it runs as it is, in a process of its own, and observers tell what it does.

Nothing of it is replaced but mixed precision, which an order leaves to its profile. At each border of a step the
process says what was done since the last one, and where it is asked to, writes down the whole state; then it waits
until it may go on.
"""

from __future__ import annotations

import base64
import json
import os
import random
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from hashlib import blake2b
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

import numpy as np
import torch
from torch import Tensor
from torch.optim import Optimizer
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils._python_dispatch import _disable_current_modes

from counterfoil.base.oneline import one_line
from counterfoil.base.raised import theirs, told
from counterfoil.program import whereabouts
from counterfoil.program.devices import OneDevice
from counterfoil.program.notes import Notes
from counterfoil.training.following.borders import Borders, watched
from counterfoil.training.following.calls import KEPT
from counterfoil.training.following.optimizers import entries_of
from counterfoil.training.following.shelf import file_key, tensors_in
from counterfoil.training.following.taint import Questions, Taint
from counterfoil.training.scripts.mainmodule import run_as_main
from counterfoil.training.scripts.patches import Patches, patched
from counterfoil.training.scripts.workfolder import FileUse, WorkFolder, files_unwatched, files_watched

MODULE = "counterfoil.training.following.plainrun"
OF_MODULE = "m|"
"""What the names of the tensors of modules begin with."""
ALIGNMENT = 64
"""What is written down begins at multiples of so many bytes, as a view of it in the memory must."""


def generator_states() -> dict[str, Any]:
    """Return where the generators of Python, numpy and torch are, as JSON has it."""
    kind, keys, *rest = np.random.get_state(legacy=True)
    version, internal, gauss = random.getstate()
    return {
        "python": [version, list(internal), gauss],
        "numpy": [kind, base64.b64encode(keys.tobytes()).decode(), *rest],  # type: ignore[union-attr]
        "torch": base64.b64encode(torch.get_rng_state().numpy().tobytes()).decode(),
    }


def set_generators(states: Mapping[str, Any]) -> None:
    """Put the generators where they were; those that are not named stay as they are.

    Args:
        states: Of :func:`generator_states`.
    """
    if "python" in states:
        version, internal, gauss = states["python"]
        random.setstate((version, tuple(internal), gauss))
    if "numpy" in states:
        kind, keys, *rest = states["numpy"]
        np.random.set_state((kind, np.frombuffer(base64.b64decode(keys), np.uint32), *rest))
    if "torch" in states:
        torch.set_rng_state(torch.frombuffer(bytearray(base64.b64decode(states["torch"])), dtype=torch.uint8))


def slot_key(optimizer: int, parameter: str, key: str) -> str:
    """Return how an entry of an optimizer's state is called in a plain run.

    Args:
        optimizer: Number of the optimizer, in the order in which they were made.
        parameter: The name of the parameter.
        key: What the optimizer calls it.
    """
    return f"{optimizer}|{parameter}|{key}"


class PlainRun(Borders):
    """Watches a script that runs as it is.

    Args:
        say: Is told what was done at each border.
        wait: Waits until the script may go on.
        dump: The states that are written down, by the number of the step behind which they are; None for none.
        states: The folder that they are written to.
        most_steps: Most steps that are watched; None for all.
        seconds: How long steps are watched; None for any time.
        files: What it reads and writes.
        held: Names of modules that are not trained, and are state from the beginning.
    """

    def __init__(
        self,
        say: Callable[[dict[str, Any]], None],
        wait: Callable[[], None],
        dump: frozenset[int] | None,
        states: Path | None,
        most_steps: int | None,
        seconds: float | None,
        files: FileUse,
        held: frozenset[str],
    ) -> None:
        super().__init__()
        self._held = held
        self._say = say
        self._wait = wait
        self._dump = dump
        self._states = states
        self._most_steps = most_steps
        self._seconds = seconds
        self._files = files
        self._taint: Taint
        self._questions: Questions
        self._stack = ExitStack()
        self._steps = 0
        self._updates: list[Any] = []
        self._losses: list[float] = []
        self._generators: dict[str, Any] = {}
        self._began = 0.0
        self._last = 0.0
        self._elsewhere: list[str] = []
        self._early: list[str] = []
        self._saved: dict[object, Any] = {}

    # What the script does.

    def begin(self) -> None:
        """Begin to watch what is done to the state."""
        assert self.models is not None
        self._taint = Taint(self.models.tensors, self.models.others, self._is_slot, self.wrote)
        for name, tensor in self.models.others.items():
            if name.partition(".")[0] in self._held:
                self._taint.hold(tensor)
        self._questions = Questions(self._taint)
        self._stack.enter_context(self._questions)
        self._stack.enter_context(self._taint)
        self._began = self._last = time.monotonic()
        self._border()

    def grow(self) -> None:
        """Watch what was made since."""
        assert self.models is not None
        for tensor in self.models.tensors.values():
            self._taint.hold(tensor)

    def _is_slot(self, memory: int) -> bool:
        """Whether a memory is that of an entry of an optimizer's state."""
        return any(
            value.untyped_storage()._cdata == memory
            for optimizer in self.made_optimizers
            for _, _, value in entries_of(optimizer)
        )

    def goes_back(self, losses: Sequence[Tensor]) -> None:
        """Note the losses."""
        if self.models is not None and self.is_here:
            self.calls.append("backward")
            self._losses += [float(loss.detach().item()) for loss in losses if loss.numel() == 1]

    def updates(self, optimizer: Optimizer, closure: Callable[[], Any] | None, step: Callable[[], Any]) -> Any:
        """Note an optimizer's step, and make it."""
        if not self.is_here:
            self._elsewhere.append(whereabouts.client_line())
            return step()
        if closure is not None and self.models is None:
            self.start(optimizer)
        if self.models is None:
            self._early.append(whereabouts.client_line())
            return step()
        number = next((n for n, made in enumerate(self.made_optimizers) if made is optimizer), -1)
        self.calls.append(f"update {number}")
        groups = [
            {name: value for name, value in group.items() if isinstance(value, (int, float, tuple, bool))}
            for group in optimizer.param_groups
        ]
        rates = [float(group.get("lr") or 0.0) for group in optimizer.param_groups]
        self._updates.append([number, rates, repr(groups)])
        return step()

    def differentiates(self, outputs: Sequence[Tensor]) -> None:
        """Nothing is noted of it."""

    def lowers(self, scheduler: ReduceLROnPlateau, before: Sequence[float]) -> None:
        """Nothing is noted of it."""

    def compiles(self) -> None:
        """Compiled code is left out by the process's environment."""

    def saves(self, what: Any) -> bool:
        """It saves what it saves."""
        self._files.wrote(what)
        return True

    def keeps(self, what: Any, file: Any) -> bool:
        """Remember where something was saved that was made of the state."""
        self._files.wrote(file)
        if self.models is not None and any(map(self._taint.is_tainted, tensors_in(what))):
            self._saved[file_key(file)] = file
        return True

    def loads(self, what: Any, file: Any) -> None:
        """Mark what is loaded again of what was made of the state."""
        if file_key(file) in self._saved:
            for tensor in tensors_in(what):
                self._taint.mark(tensor)

    def kept(self, file: Any) -> None:
        """It loads what lies there."""

    # Borders.

    def finish(self) -> None:
        """Tell what the step was."""
        self._steps += 1
        self._border()
        late = self._seconds is not None and time.monotonic() - self._began > self._seconds
        if late or self._steps == self._most_steps:
            self._leave({"cut": True})

    def _border(self) -> None:
        now = time.monotonic()
        state = self._tensors()
        border = self._told(str(self._steps), state)
        if self._dump is not None and self._steps in self._dump:
            border["state"] = self._write(str(self._steps), state)
        self._say({"border": self._steps, "seconds": now - self._last, **border})
        self._wait()
        self._updates, self._losses, self._questions.answers = [], [], []
        self._taint.begin()
        self._files.step = self._steps + 1
        self._last = time.monotonic()

    def _told(self, name: str, state: Mapping[str, Tensor]) -> dict[str, Any]:
        taint = self._taint
        with _disable_current_modes(), torch._C.DisableTorchFunction(), torch.no_grad():
            generators = generator_states()
            moved = {name: state for name, state in generators.items() if self._generators.get(name) != state}
            self._generators = generators
            # One pass for both: what the models hold comes first in the state.
            models = [tensor for key, tensor in state.items() if key.startswith(OF_MODULE)]
            hashed = _hashed(blake2b(digest_size=16), models)
            models_digest = hashed.hexdigest()
            digest = _hashed(hashed, list(state.values())[len(models) :]).hexdigest()
            told: dict[str, Any] = {
                "calls": self.calls,
                "updates": self._updates,
                "losses": self._losses,
                "answers": [_answer(place, value) for place, value in self._questions.answers],
                "draws": [
                    [kind, where, _hashed(blake2b(digest_size=16), [values]).hexdigest()]
                    for (kind, values), where in zip(taint.draws, taint.drawn_at, strict=True)
                ],
                "digest": digest,
                "models": models_digest,
                "generators": moved,
                "lost": taint.lost,
                "held": taint.held,
                "elsewhere": self._elsewhere,
                "early": self._early,
                "optimizers": len(self.made_optimizers),
            }
        if self._dump is not None and (self._steps in self._dump or self._steps - 1 in self._dump):
            told["drawn"] = self._write(f"draws-{name}", self._drawn())
            told["written"] = {
                name: taint.written_at[tensor.untyped_storage()._cdata]
                for name, tensor in state.items()
                if tensor.layout is torch.strided and tensor.untyped_storage()._cdata in taint.written_at
            }
        return told

    def _drawn(self) -> dict[str, Tensor]:
        return {f"{number}:{kind}": values for number, (kind, values) in enumerate(self._taint.draws)}

    def _tensors(self) -> dict[str, Tensor]:
        """All that the script holds, by name: of its modules first, of its optimizers, and of what else it keeps."""
        assert self.models is not None
        with torch._C.DisableTorchFunction():
            return self._held_now(self.models.present())

    def _held_now(self, present: Mapping[str, Tensor]) -> dict[str, Tensor]:
        found = {f"{OF_MODULE}{name}": tensor for name, tensor in present.items()}
        names = {id(tensor): name for name, tensor in present.items()}
        for number, optimizer in enumerate(self.made_optimizers):
            for parameter, key, value in entries_of(optimizer):
                if id(parameter) in names:
                    found[slot_key(number, names[id(parameter)], key)] = value
        found |= {f"{KEPT}{number}": tensor for number, tensor in enumerate(self._taint.kept, start=1)}
        return found

    def _write(self, name: str, tensors: Mapping[str, Tensor]) -> list[Any]:
        """Write tensors down, and return their names, dtypes and shapes."""
        assert self._states is not None
        listed = []
        with (
            files_unwatched(),
            _disable_current_modes(),
            torch._C.DisableTorchFunction(),
            torch.no_grad(),
            (self._states / name).open("wb") as file,
        ):
            for key, tensor in tensors.items():
                values = _plain(tensor)
                listed.append([key, str(values.dtype).removeprefix("torch."), list(values.shape)])
                data = memoryview(_bytes(values))
                file.write(data)
                file.write(bytes(-data.nbytes % ALIGNMENT))
        return listed

    def end(self, error: BaseException | None) -> None:
        """Tell what is left where the script has ended."""
        if self.models is None:
            processes = self._files.forks
            self._say(
                {
                    "ended": True,
                    "error": _failure(error),
                    "early": self._early,
                    "elsewhere": self._elsewhere,
                    "processes": processes,
                }
            )
            return
        if self.is_updated:
            self._steps += 1
            self._border()
        self._stack.close()
        state = self._tensors()
        tail = self._told("tail", state)
        if self._dump is not None:
            tail["state"] = self._write("tail", state)
        self._say({"ended": True, "error": _failure(error), **tail})

    def _leave(self, told: dict[str, Any]) -> None:
        """End the process: what its script would do from here on is not looked at."""
        self._say(told)
        self._say(files_message(self._files))
        os._exit(0)


def _answer(place: str, value: Any) -> list[Any]:
    return [place, value if isinstance(value, (bool, int, float)) else None]


def _plain(tensor: Tensor) -> Tensor:
    values = tensor.detach().cpu()
    if values.dtype in (torch.float16, torch.bfloat16, torch.float64):
        values = values.float()
    if values.is_conj() or values.is_neg():
        values = values.resolve_conj().resolve_neg()
    return values.contiguous()


def _bytes(values: Tensor) -> Any:
    """The memory of a tensor that is contiguous; the stride of an axis of one element may be any."""
    return values.as_strided((values.numel(),), (1,)).view(torch.uint8).numpy()


def _hashed(so_far: blake2b, tensors: Iterable[Tensor]) -> blake2b:
    """Hash tensors behind what was hashed so far."""
    for tensor in tensors:
        so_far.update(memoryview(_bytes(_plain(tensor))))
    return so_far


def files_message(files: FileUse) -> dict[str, Any]:
    """Return what a process says of the files that a script used."""
    return {"files": {"reads": files.reads, "writes": files.writes, "stale": list(files.stale)}}


def _failure(error: BaseException | None) -> dict[str, str] | None:
    if error is None:
        return None
    return {
        "sentence": one_line(told(error)),
        "place": whereabouts.where_raised(error),
        "detail": "".join(traceback.format_exception(error)),
    }


def main() -> int:
    """Be the process: read what is to be run, run it, and say what it does."""
    channel = os.dup(1)
    orders = os.fdopen(os.dup(0), "rb")
    request = json.loads(orders.readline())
    _quiet(request["log"])
    said = os.fdopen(channel, "wb")
    _run(request, said, orders)
    said.flush()
    return 0


def _quiet(log: str) -> None:
    """Let what the script prints go into a file, and give it nothing to read."""
    nowhere, shown = os.open(os.devnull, os.O_RDONLY), os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(nowhere, 0)
    os.dup2(shown, 1)
    os.dup2(shown, 2)


def _run(request: Mapping[str, Any], said: BinaryIO, orders: BinaryIO) -> None:
    sys.dont_write_bytecode = True
    sys.path[:] = request["paths"]

    def say(message: dict[str, Any]) -> None:
        said.write(json.dumps(message).encode() + b"\n")
        said.flush()

    def wait() -> None:
        if request["waits"] and not orders.readline():
            os._exit(1)

    folder = WorkFolder(Path(request["original"]), Path(request["folder"]))
    os.chdir(folder.path)
    whereabouts.stand_for(str(folder.path), str(folder.original))
    files = FileUse(folder)
    dump = None if request["dump"] is None else frozenset(request["dump"])
    states = None if request["states"] is None else Path(request["states"])
    run = PlainRun(say, wait, dump, states, request["steps"], request["seconds"], files, frozenset(request["held"]))
    patches = Patches()
    begin = torch.amp.autocast_mode.autocast.__init__

    def unmixed(self: Any, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **{**kwargs, "enabled": False})

    # Where the order's profile takes the place of mixed precision, the script runs without it, too.
    patches.put(torch.amp.autocast_mode.autocast, "__init__", unmixed)

    def starting(module: ModuleType, replaced: Patches) -> None:
        start = module.BaseProcess.start

        def started(process: Any) -> None:
            files.starts_process()
            start(process)

        # One that begins anew is no copy, of which an audit event would tell.
        replaced.put(module.BaseProcess, "start", started)

    set_generators(request["generators"])
    say({"generators": generator_states()})
    error: BaseException | None = None
    try:
        with (
            files_watched(files, network=request["network"]),
            OneDevice(Notes()),
            patched({"multiprocessing.process": starting}),
            watched(run, plainly=True),
        ):
            try:
                run_as_main(folder.private(Path(request["script"])), request["script"], request["arguments"])
            except SystemExit as ended:
                error = None if ended.code in (None, 0) else ended
            except BaseException as raised:
                error = theirs(raised)
            run.end(error)
    finally:
        patches.undo()
    say(files_message(files))
    sys.stdout.flush()
    sys.stderr.flush()
    # What a script leaves running, as threads and loaders, is not waited for.
    os._exit(0)
