"""A process of the program that a stranger takes over when it has done its work: ``taken_over.py WORLD MODULE ...``.

It is the module's own ``main``, with the box that this closes. Then what computes in it is loaded and given an end of
ours: the tries of ``escapes``, from within, beside all threads and libraries that the work has left.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from counterfoil.sandbox import box

# Run by its path, as a process of the program is.
sys.path.insert(0, str(Path(__file__).parent))
import escapes  # type: ignore[import-not-found]

ALONE = "run_another_program"
"""The try after which a process is no more what it was."""


def escaping(world: Any, scratch: str) -> Callable[[], None]:
    """Return what tries to get out, once."""
    tried: list[str] = []

    def run() -> None:
        if not tried:
            tried.append("once")
            escapes.attempt_all(replace(world, work=scratch or world.work), [*others, ALONE])

    others = [name for name in escapes.TRIES if name != ALONE]
    return run


def after_the_replay(then: Callable[[], None]) -> None:
    """The process in which a command replays: at the end of its task."""
    from counterfoil.talk.port import Port

    before: Any = Port.read

    def reading(port: Any, call: Any) -> Any:
        carry_out = before(port, call)

        def working(*given: Any, **beside: Any) -> Iterator[object]:
            yield from carry_out(*given, **beside)
            then()

        return working

    Port.read = reading  # type: ignore[method-assign]


def after_a_segment(then: Callable[[], None]) -> None:
    """A worker: at the end of its first segment."""
    from counterfoil.audit.parts.workplace import Workplace

    before: Any = Workplace.replay

    def replaying(*arguments: Any) -> Any:
        result = yield from before(*arguments)
        then()
        return result

    Workplace.replay = replaying  # type: ignore[method-assign]


def after_an_inspection(then: Callable[[], None]) -> None:
    """A process of the window's engine: when it has inspected a run."""
    after_the_replay(then)


def after_the_report(then: Callable[[], None]) -> None:
    """The process that prints: when it has made the report."""
    from counterfoil_app.verdict import report_process

    before = report_process.make_pdf

    def making(*arguments: Any) -> bytes:
        made = before(*arguments)
        then()
        return made

    report_process.make_pdf = making


def after_a_command(then: Callable[[], None]) -> None:
    """A command in a box of its own: when it has read a run, or has recorded a step."""
    from counterfoil.audit import overview
    from counterfoil.training import stepfile

    summarise, encode = overview.summarise, stepfile.encode_step

    def summarising(*arguments: Any) -> Any:
        then()
        return summarise(*arguments)

    def encoding(*arguments: Any) -> Any:
        then()
        return encode(*arguments)

    overview.summarise = summarising
    stepfile.encode_step = encoding


TAKEN: dict[str, Callable[[Callable[[], None]], None]] = {
    "counterfoil.audit.boxed.inside": after_the_replay,
    "counterfoil.audit.parts.worker": after_a_segment,
    "counterfoil_app.engine.child": after_an_inspection,
    "counterfoil_app.verdict.report_process": after_the_report,
    "counterfoil.cli": after_a_command,
}


def main() -> int:
    """Be the process."""
    described, module, *rest = sys.argv[1:]
    before = box.enter

    def enter(reads: Any, writes: Any = (), lists: Any = ()) -> box.Closed:
        writes = list(writes)
        closed = before(reads, writes, lists)
        print(json.dumps({"sandbox": closed.words}), file=sys.stderr, flush=True)
        TAKEN[module](escaping(world, writes[0] if writes else ""))
        return closed

    world = escapes.World(**json.loads(described))
    box.enter = enter
    sys.argv[:] = [module, *rest]
    return importlib.import_module(module).main() or 0


if __name__ == "__main__":
    sys.exit(main())
