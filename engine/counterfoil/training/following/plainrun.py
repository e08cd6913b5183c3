"""The plain run of a script: it runs as it is, in a process of its own, and observers tell what it does.

Nothing of it is replaced but mixed precision, which an order leaves to its profile. At each border of a step the
process says what was done since the last one, and where it is asked to, writes down the whole state; then it waits
until it may go on.
"""

from __future__ import annotations

import os
import random
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.optim import Optimizer
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils._python_dispatch import _disable_current_modes

from counterfoil.base.foreignerrors import describe_error, theirs
from counterfoil.base.oneline import one_line
from counterfoil.program import whereabouts
from counterfoil.program.devices import OneDevice
from counterfoil.program.remedies import Notes
from counterfoil.talk.line import Line
from counterfoil.talk.messages import decode, encode
from counterfoil.talk.port import Port
from counterfoil.talk.table import PLAIN_RUN
from counterfoil.training.following.borders import Borders, watch
from counterfoil.training.following.calls import KEPT
from counterfoil.training.following.optimizers import entries_of
from counterfoil.training.following.plainreport import (
    Beginning,
    Border,
    Failure,
    Files,
    Generators,
    Listed,
    Request,
    Said,
    Update,
)
from counterfoil.training.following.shelf import file_key, tensors_in
from counterfoil.training.following.taint import Questions, Taint
from counterfoil.training.scripts.mainmodule import run_as_main
from counterfoil.training.scripts.patches import Patches, patch_modules
from counterfoil.training.scripts.workfolder import FileUse, WorkFolder, files_unwatched, files_watched
from counterfoil_core.base.errors import CancelledError
from counterfoil_core.order.evaluation import SCORE

MODULE = PLAIN_RUN.module
PRINTED = "printed"
"""The file in which is what the script prints."""
OF_MODULE = "m|"
"""What the names of the tensors of modules begin with."""
ALIGNMENT = 64
"""What is written down begins at multiples of so many bytes, as a view of it in the memory must."""


def generator_states() -> dict[str, bytes]:
    """Return where the generators of Python, numpy and torch are, as messages have it."""
    return {
        "python": encode(random.getstate()),
        "numpy": encode(np.random.get_state(legacy=True)),
        "torch": torch.get_rng_state().numpy().tobytes(),
    }


def set_generators(states: Generators) -> None:
    """Put the generators where they were; those that are not named stay as they are.

    Args:
        states: Of :func:`generator_states`.
    """
    if "python" in states:
        random.setstate(decode(states["python"], tuple[int, tuple[int, ...], float | None]))
    if "numpy" in states:
        np.random.set_state(decode(states["numpy"], tuple[str, npt.NDArray[np.uint32], int, int, float]))
    if "torch" in states:
        torch.set_rng_state(torch.frombuffer(bytearray(states["torch"]), dtype=torch.uint8))


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
        request: What of it is watched and written down.
        say: Is told what was done at each border.
        wait: Waits until the script may go on.
        states: The folder that states are written to.
        files: What it reads and writes.
    """

    def __init__(
        self,
        request: Request,
        say: Callable[[Said], None],
        wait: Callable[[], None],
        states: Path,
        files: FileUse,
    ) -> None:
        super().__init__(evaluates=request.evaluates)
        self._sums: dict[str, float] = {}
        self._request = request
        self._dump = frozenset(request.dump or ())
        self._say = say
        self._wait = wait
        self._states = states
        self._files = files
        self._taint: Taint
        self._questions: Questions
        self._stack = ExitStack()
        self._steps = 0
        self._updates: list[Update] = []
        self._losses: list[float] = []
        self._generators: dict[str, bytes] = {}
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
            if name.partition(".")[0] in self._request.held:
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
        rates = tuple(float(group.get("lr") or 0.0) for group in optimizer.param_groups)
        self._updates.append(Update(number, rates, repr(groups)))
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
        late = self._request.seconds is not None and time.monotonic() - self._began > self._request.seconds
        if late or self._steps == self._request.most_steps:
            leave(self._say, self._files)

    def _border(self) -> None:
        now = time.monotonic()
        state = self._tensors()
        border = self._told(str(self._steps), state)
        if self._steps in self._dump:
            border = replace(border, state=self._write(str(self._steps), state))
        self._say(replace(border, seconds=now - self._last))
        self._wait()
        self._updates, self._losses, self._questions.answers = [], [], []
        self._taint.begin()
        self._files.step = self._steps + 1
        self._last = time.monotonic()

    def _told(self, name: str, state: Mapping[str, Tensor]) -> Border:
        taint = self._taint
        draws, written = None, dict[str, str]()
        if self._steps in self._dump or self._steps - 1 in self._dump:
            draws = self._write(f"draws-{name}", self._drawn())
            written = {
                name: taint.written_at[tensor.untyped_storage()._cdata]
                for name, tensor in state.items()
                if tensor.layout is torch.strided and tensor.untyped_storage()._cdata in taint.written_at
            }
        with _disable_current_modes(), torch._C.DisableTorchFunction(), torch.no_grad():
            generators = generator_states()
            moved = {name: state for name, state in generators.items() if self._generators.get(name) != state}
            self._generators = generators
            # One pass for both: what the models hold comes first in the state.
            models = [tensor for key, tensor in state.items() if key.startswith(OF_MODULE)]
            hashed = _hashed(blake2b(digest_size=16), models)
            before, self._sums = self._sums, self._sums_now()
            return Border(
                self._steps,
                calls=tuple(self.calls),
                sums=tuple((name, now - before.get(name, 0.0)) for name, now in self._sums.items()),
                updates=tuple(self._updates),
                losses=tuple(self._losses),
                answers=tuple(
                    (place, value if isinstance(value, (bool, int, float)) else None)
                    for place, value in self._questions.answers
                ),
                drawn=tuple(
                    (kind, where, _hashed(blake2b(digest_size=16), [values]).hexdigest())
                    for (kind, values), where in zip(taint.draws, taint.drawn_at, strict=True)
                ),
                models=hashed.hexdigest(),
                digest=_hashed(hashed, list(state.values())[len(models) :]).hexdigest(),
                generators=moved,
                lost=tuple(taint.lost),
                held=tuple(taint.held),
                written=written,
                elsewhere=tuple(self._elsewhere),
                early=tuple(self._early),
                draws=draws,
            )

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
        with _disable_current_modes():
            return found | {f"{SCORE}{name}": score for name, score in self._scores_now()}

    def _scores_now(self) -> Iterator[tuple[str, Tensor]]:
        """What an evaluation has counted so far, by name: int64 whatever it was counted in."""
        for name, value in ({} if self.tallies is None else self.tallies.held()).items():
            if not isinstance(value, Tensor):
                value = torch.tensor(value)
            if not value.is_floating_point() or bool((value == value.round()).all()):
                yield name, value.detach().to(torch.int64)

    def _sums_now(self) -> dict[str, float]:
        held = {} if self.tallies is None else self.tallies.held()
        return {name: float(value) for name, value in held.items() if isinstance(value, float)}

    def _write(self, name: str, tensors: Mapping[str, Tensor]) -> Listed:
        """Write tensors down, and return what they are."""
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
                listed.append((key, str(values.dtype).removeprefix("torch."), tuple(values.shape)))
                data = memoryview(_bytes(values))
                file.write(data)
                file.write(bytes(-data.nbytes % ALIGNMENT))
        return tuple(listed)

    def end(self, error: BaseException | None) -> None:
        """Tell what is left where the script has ended."""
        failure = None
        if error is not None:
            detail = "".join(traceback.format_exception(error))
            failure = Failure(one_line(describe_error(error)), whereabouts.where_raised(error), detail)
        if self.models is None:
            early, elsewhere, processes = map(tuple, (self._early, self._elsewhere, self._files.forks))
            end = Border(0, early=early, elsewhere=elsewhere, processes=processes)
        else:
            if self.is_updated:
                self._steps += 1
                self._border()
            self._stack.close()
            state = self._tensors()
            end = self._told("tail", state)
            if self._request.dump is not None:
                end = replace(end, state=self._write("tail", state))
        self._say(replace(end, is_end=True, failure=failure))


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


def leave(say: Callable[[Said], None], files: FileUse) -> NoReturn:
    """Say what files were used, and end the process: what its script would do from here on is not looked at."""
    say(Files(dict(files.reads), dict(files.writes), tuple(files.stale)))
    os._exit(0)


def go_on(_reader: None) -> None:
    """Wait until whoever reads what was said has done so, and wants more."""


def run_plainly(
    line: Line[Any],
    request: Request,
    folder: WorkFolder,
    scratch: Path,
    paths: tuple[str, ...],
    tell: Callable[[Said], None],
) -> Iterator[Said]:
    """Run a script and say what it does, where its modules lie in some folders; the process ends with it."""
    _quiet(scratch / PRINTED)
    sys.dont_write_bytecode = True
    sys.path[:] = paths

    def wait() -> None:
        if request.dump is not None:
            try:
                line.ask(READER, go_on)
            except CancelledError:
                os._exit(1)

    os.chdir(folder.path)
    whereabouts.stand_for(str(folder.path), str(folder.original))
    files = FileUse(folder)
    run = PlainRun(request, tell, wait, scratch, files)
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

    set_generators(request.generators)
    tell(Beginning(generator_states()))
    error: BaseException | None = None
    try:
        with (
            files_watched(files, network=request.network),
            OneDevice(Notes()),
            patch_modules({"multiprocessing.process": starting}),
            watch(run, plainly=True),
        ):
            try:
                run_as_main(folder.private(request.script), str(request.script), request.arguments)
            except SystemExit as ended:
                error = None if ended.code in (None, 0) else ended
            except BaseException as raised:
                error = theirs(raised)
            run.end(error)
    finally:
        patches.undo()
    sys.stdout.flush()
    sys.stderr.flush()
    # What a script leaves running, as threads and loaders, is not waited for.
    leave(tell, files)


def _quiet(log: Path) -> None:
    """Let what the script prints go into a file."""
    shown = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(shown, 1)
    os.dup2(shown, 2)


PLAIN = Port[Line[Any]](run_plainly, given="line")
"""What the process may be asked."""
READER = Port[None](go_on, given="_reader")
"""What it asks whoever reads what it says."""


def main() -> int:
    """Be the process: run what it is told, and say what it does."""
    line = Line(PLAIN_RUN, PLAIN)
    return line.serve_one(line)
