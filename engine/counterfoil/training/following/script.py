"""The order of a script: it runs as it is, is followed into an order, and is held against that order step by step.

Three runs, each in a private copy of the working folder. The first runs with values, and shows how many steps there
are, what the script asks of values, which files it uses, and where its generators are. The second is followed without
values (a library's loop is taken over where that is known how), and gives the order. The third runs as the first does,
under another hash seed, and waits at the border of each step while the step that is ordered is executed from its state.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from counterfoil.program import whereabouts
from counterfoil.training.following.follower import follow
from counterfoil.training.following.oracle import Oracle, order_of_draft, sources_of_counts, steps_to_compare
from counterfoil.training.following.plainprocess import OFFLINE, plain_process
from counterfoil.training.following.plainreport import Request
from counterfoil.training.following.survey import Survey, survey_of
from counterfoil.training.scripts.handover import Compared, ScriptOrder, Wanted
from counterfoil.training.scripts.run import run_script
from counterfoil.training.scripts.workfolder import FileUse, files_watched, work_folder
from counterfoil.training.stages import COMPARING, RUNNING, Preparing
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import DataError, ProgramError
from counterfoil_core.order.evaluation import score_names
from counterfoil_core.order.executable import LoadedOrder

SECONDS = 120.0
"""A script that makes its steps in this time is compared in all of them, and any other in those that it makes in it."""
_SHOWN = 3


def order_of_script(script: str | os.PathLike[str], arguments: Sequence[str], wanted: Wanted) -> ScriptOrder:
    """Return the order of what a script trains, compared with the script.

    Where a library's loop is taken over, and the step that it names cannot be captured, or is another one than the
    script makes, the script is followed once more, and that loop is followed like any other.

    Args:
        script: The script.
        arguments: What it finds behind its name in ``sys.argv``.
        wanted: What is wanted of the order besides.

    Raises:
        DataError: As :func:`counterfoil.training.scripts.run.run_script`.
        ProgramError: The order would be another training than the script's.
        CounterfoilError: The training cannot be ordered; of both ways, what the second says.
    """
    path = Path(script)
    if not path.is_file():
        raise DataError(f"There is no script {path}.", remedy="Name a file of Python's: --script train.py.")
    if int(os.environ.get("WORLD_SIZE") or 1) > 1:
        raise DataError(
            "A script is ordered by one process, and this is one of several (WORLD_SIZE).",
            remedy="Run 'counterfoil order' by itself and not by torchrun. How a step is divided is said by shares: "
            "let a function return the job, and say --from and --shares (docs/many-devices.md).",
        )
    if wanted.compare == 0:
        return _by_either_way(lambda way: _followed(path, arguments, way, None, Path.cwd()), wanted)
    survey = _surveyed(path, arguments, wanted)
    return _by_either_way(lambda way: _compared(path, arguments, way, survey), wanted)


def _by_either_way(ordered: Callable[[Wanted], ScriptOrder], wanted: Wanted) -> ScriptOrder:
    try:
        return ordered(wanted)
    except (DataError, ProgramError) as error:
        if not wanted.taken_over:
            raise
        first = error
    try:
        made = ordered(replace(wanted, takeovers=False))
    except (DataError, ProgramError) as error:
        # What a library's settings ask for has a name; what following it comes to is at best a line of the library.
        raise (first if isinstance(first, DataError) else error) from error
    note = f"The library's loop was followed: what it names as its step could not be taken over ({first.sentence})"
    return replace(made, notes=(note, *made.notes))


def _surveyed(path: Path, arguments: Sequence[str], wanted: Wanted) -> Survey:
    most = [steps for steps in (wanted.compare, wanted.max_steps) if steps is not None]
    request = Request(
        path,
        tuple(arguments),
        min(most, default=None),
        SECONDS if wanted.compare is None else None,
        network=wanted.network,
        evaluates=wanted.evaluates,
    )

    def tell(steps: int) -> None:
        wanted.tell(Preparing(RUNNING, "steps", steps, min(most, default=0)))

    with _scratch() as scratch, work_folder(Path.cwd()) as folder:
        survey = survey_of(request, folder, scratch, tell)
    failure = None if survey.end is None else survey.end.failure
    if failure is not None and not survey.steps:
        raise DataError(
            f"{path.name} failed: {failure.sentence}{whereabouts.in_brackets(failure.place)}.",
            remedy="Correct the script, or its arguments behind --; where it cannot run on this machine, --compare 0 "
            "orders it without comparing.",
            detail=failure.detail,
        )
    survey.check()
    return survey


def _followed(
    path: Path, arguments: Sequence[str], wanted: Wanted, survey: Survey | None, working: Path
) -> ScriptOrder:
    """Follow a script in a private copy of its folder."""
    network = survey is None and wanted.network
    with work_folder(working) as folder, _offline(not network):
        use = FileUse(folder)
        if survey is not None:
            use.before_read = _refusing_values(survey.files.writes)
        whereabouts.stand_for(str(folder.path), str(folder.original))
        try:
            with files_watched(use, network=network):
                return run_script(
                    path, arguments, wanted, around=lambda run: follow(run, wanted, path.stem, survey), folder=folder
                )
        finally:
            whereabouts.stand_for("", "")


def _refusing_values(writes: Mapping[str, int]) -> Callable[[str], None]:
    def check(name: str) -> None:
        if writes.get(name, 0) > 0:
            raise ProgramError(
                f"The script reads {name} back, which it wrote after its training had begun (in step {writes[name]}): "
                "what it read would be a number of one run in the order.",
                remedy="Keep what is read back in memory, as a buffer of a module, or order the steps before "
                "(--max-steps).",
            )

    return check


def _compared(path: Path, arguments: Sequence[str], wanted: Wanted, survey: Survey) -> ScriptOrder:
    made = _followed(path, arguments, wanted, survey, Path.cwd())
    calls, kinds = (wanted.calls, wanted.kinds) if wanted.followed else (None, ())
    order = order_of_draft(made.draft)
    compared = _agreement(order, path, arguments, survey, wanted.tell, calls, wanted.sources, kinds)
    return replace(made, compared=compared, notes=(*made.notes, *_elsewhere(survey)))


def _elsewhere(survey: Survey) -> tuple[str, ...]:
    """Say what the script writes outside its folder, of which it has no private copy."""
    temporary = tempfile.gettempdir() + os.sep
    names = [name for name in survey.files.writes if os.path.isabs(name) and not name.startswith(temporary)]
    if not names:
        return ()
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return (f"The script writes outside its folder, each time that it runs: {', '.join(names[:_SHOWN])}{more}.",)


def compare_script(
    order: LoadedOrder,
    script: str | os.PathLike[str],
    arguments: Sequence[str],
    steps: int | None,
    tell: Callable[[Preparing], None],
    counts: Mapping[str, str] | None = None,
) -> Compared:
    """Compare an order that was written with its script, in all steps or in the first ones.

    Args:
        order: The order.
        script: The script.
        arguments: Its arguments.
        steps: Most steps that are compared; None for all.
        tell: Is told how far it is.
        counts: What an evaluation calls counts, by what the order calls them.

    Raises:
        DataError: The script fails, or does what cannot be ordered.
        ProgramError: The order is another training than the script's.
    """
    path = Path(script)
    if not path.is_file():
        raise DataError(f"There is no script {path}.", remedy="Name it behind --: compare job.cfoil -- train.py.")
    most = order.manifest.steps if steps is None else min(steps, order.manifest.steps)
    # The order may hold fewer steps than the script makes: it was told to end there.
    wanted = Wanted(max_steps=most, compare=most, tell=tell, evaluates=bool(score_names(order.programs.all)))
    survey = _surveyed(path, arguments, wanted)
    return _agreement(order, path, arguments, survey, tell, None, sources_of_counts(counts or {}), ())


def _agreement(
    order: LoadedOrder,
    path: Path,
    arguments: Sequence[str],
    survey: Survey,
    told: Callable[[Preparing], None],
    calls: Sequence[tuple[str, ...]] | None,
    sources: Mapping[str, str],
    kinds: Sequence[object],
) -> Compared:
    """Run the script beside the order, and hold each step against it; raises ProgramError where they differ."""
    steps = order.manifest.steps
    chosen = steps_to_compare(order, survey, kinds)

    def tell(done: int) -> None:
        told(Preparing(COMPARING, "steps", done, len(chosen)))

    oracle = Oracle(order, survey, calls, sources, tell)
    oracle.check_sequence()
    request = Request(
        path,
        tuple(arguments),
        None if survey.is_whole and chosen[-1] == steps else chosen[-1],
        dump=tuple(sorted({0, *chosen, *(step - 1 for step in chosen)})),
        generators=survey.generators,
        other_hashes=True,
        network=False,
        evaluates=oracle.evaluates,
        held=tuple(sorted(survey.averages)),
    )
    with (
        _scratch() as scratch,
        work_folder(Path.cwd()) as folder,
        plain_process(request, folder, scratch) as process,
    ):
        agreement = oracle.compare(process, chosen)
    return Compared(agreement.steps, steps, Digest.of_file(path), tuple(arguments), _digests(survey, Path.cwd()))


def _digests(survey: Survey, folder: Path) -> dict[str, Digest]:
    """SHA-256 of each file that the script read, by its name; of those that it made itself there is none."""
    found = {}
    for name in survey.files.reads:
        path = folder / name
        if name not in survey.files.writes and path.is_file():
            found[Path(os.path.relpath(path, folder)).as_posix()] = Digest.of_file(path)
    return found


@contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="counterfoil-") as name:
        yield Path(name)


@contextmanager
def _offline(really: bool) -> Iterator[None]:
    """Tell libraries within that there is no network."""
    before = {name: os.environ.get(name) for name in OFFLINE}
    try:
        if really:
            os.environ.update(OFFLINE)
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
