from __future__ import annotations

import builtins
import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Before Qt is imported by anything: the tests draw off screen unless told otherwise.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# Torch's threads sleep while they wait for work; by default they spin, and take the processor from other workers.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# Audits keep their progress there, and not in the folder of who runs the tests; every worker has a folder of its own.
STATE = tempfile.mkdtemp(prefix="counterfoil-tests-")
os.environ["XDG_STATE_HOME"] = STATE
# Nobody is trusted there, whoever runs the tests.
os.environ["XDG_CONFIG_HOME"] = os.path.join(STATE, "config")
# Commands replay in this process, where tests look into it. Those of the box close it (tests/support/boxes.py).
os.environ["COUNTERFOIL_SANDBOX"] = "off"
# Speed is measured by benchmarks: an example that takes long, beside others on two cores, is no failure.
settings.register_profile("untimed", settings(deadline=None))
settings.load_profile("untimed")
# No test pulls the plug: what is written need not have reached the disk.
os.fsync = lambda _handle: None
PLAIN_IMPORT = builtins.__import__
"""What an import statement calls; PySide6 puts a function in its place that looks at who imports, each time."""


LONGEST_FIRST = (
    "engine/training/test_ranks.py",
    "app/test_translations.py",
    "engine/training/following/test_follower.py",
    "app/test_engine_in_boxes.py",
    "app/test_real_flow.py",
    "test_fuzz.py",
    "attacks/test_killed_recording.py",
    "app/test_verdicts.py",
    "app/test_home.py",
    "engine/training/test_division.py",
    "attacks/test_sandbox.py",
    "engine/operators/test_definitions.py",
    "test_lies.py",
    "app/test_flow.py",
    "engine/training/test_captured_optimizers.py",
    "engine/audit/test_part_capsules.py",
    "engine/training/test_huggingface_tasks.py",
    "engine/kernels/test_cache.py",
    "engine/audit/test_remote_run.py",
    "engine/training/scripts/test_trainers.py",
    "app/test_keyboard.py",
    "engine/operators/test_fuzz.py",
    "benchmarks/test_cross_hardware.py",
    "app/test_nothing_is_lost.py",
    "engine/program/test_update.py",
    "fidelity/test_trial.py",
    "test_literature.py",
    "test_tutorials.py",
    "test_readme.py",
    "engine/audit/test_killed_audit.py",
    "engine/audit/test_signed_shares.py",
    "engine/audit/test_boxed.py",
    "engine/cli/test_boxed_commands.py",
)
"""Files that take longest: begun first, so that no worker is left with one of them when the others are done.

At the very beginning one compiles kernels and the other needs none, or two workers would compile the same ones at the
same time.
"""
HERE = Path(__file__).parent
MANY = 1_000
"""More tests than one file has."""


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Without a CUDA device Triton's interpreter runs its kernels; it is chosen when Triton is first imported.

    Nothing here uses the features of PySide6 for whose sake it looks at all imports, those within functions of torch
    included; and nothing that is collected is garbage.
    """
    builtins.__import__ = PLAIN_IMPORT
    gc.disable()
    # The process that hands the tests to others imports nothing itself.
    if not config.getoption("numprocesses", None) and _no_gpu():
        os.environ["TRITON_INTERPRET"] = "1"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first; leave a few cases of what is sampled; skip what cannot run here, and say why."""
    _sample(items)
    places = {HERE / name: place for place, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))
    reasons = {"gpu": _no_gpu(), "xvfb": None if shutil.which("Xvfb") else "Xvfb is not installed"}
    for item in items:
        if item.get_closest_marker("ptx") and not item.get_closest_marker("often"):
            item.add_marker(pytest.mark.slow)
        for marker, reason in reasons.items():
            if reason and item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))


def _sample(items: list[pytest.Item]) -> None:
    """Of a test marked ``sampled`` a few cases stay, and the others are slow.

    Of several parametrizations each value stays once, together with another value of the others each time; with
    ``sampled(count)`` so many of these cases, spread evenly.
    """
    cases: dict[tuple[Path, str], list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sampled") and not {"slow", "ptx"}.intersection(m.name for m in item.iter_markers()):
            cases.setdefault((item.path, item.nodeid.partition("[")[0]), []).append(item)
    for of_one in cases.values():
        diagonal = _diagonal(of_one)
        count = min([*of_one[0].get_closest_marker("sampled").args, len(diagonal)])
        kept = {diagonal[(2 * number + 1) * len(diagonal) // (2 * count)] for number in range(count)}
        for item in of_one:
            if item not in kept:
                item.add_marker(pytest.mark.slow)


def _diagonal(items: list[pytest.Item]) -> list[pytest.Item]:
    """Cases of one test in which each value of each parametrization occurs, as few as there can be."""
    names = [item.callspec._idlist for item in items]
    axes = [list(dict.fromkeys(axis)) for axis in zip(*names, strict=True)]
    longest = max(range(len(axes)), key=lambda place: len(axes[place]))
    kept = []
    for item, given in zip(items, names, strict=True):
        along = axes[longest].index(given[longest])
        if all(name == axis[along % len(axis)] for name, axis in zip(given, axes, strict=True)):
            kept.append(item)
    return kept


_EVERY_MOMENT = False
"""Whether the test that runs wants a step traced at other moments, too."""


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Trace a step once, unless the test asks for more; a third of what a capture takes is the other trace.

    Let what computes and what signs be forks, unless the test is of the process.
    """
    global _EVERY_MOMENT
    _EVERY_MOMENT = item.get_closest_marker("every_moment") is not None
    if _FORKS is not None:
        _FORKS.forks = item.get_closest_marker("own_process") is None


_RECORD = pytest.StashKey[Any]()
"""What the machine of ``tests/ptx`` noted during a test."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """A test marked ``ptx`` has its kernels compiled for a device, and executed by the machine of ``tests/ptx``."""
    mark = item.get_closest_marker("ptx")
    if mark is None:
        return (yield)
    from ptx.driver import compiled_for

    with compiled_for(*mark.args, item.module) as record:  # kernels of the test's own, too
        item.stash[_RECORD] = record
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """What the machine found fails the test, whatever became of it: a device's failure may be answered otherwise."""
    result = yield
    if _RECORD in item.stash:
        assert item.stash[_RECORD].faults == []
    return result


_FORKS: Any = None
"""What starts processes."""


def _fork_programs() -> None:
    global _FORKS
    from counterfoil.talk import process
    from support.forked_programs import Subprocess

    process.subprocess = _FORKS = Subprocess()


def _trace_at_first_only() -> None:
    from counterfoil.program import steadily
    from counterfoil.program.steadiness import Moments, moments_asked

    @contextmanager
    def moments() -> Iterator[Callable[[], Any]]:
        with moments_asked() as asked:
            yield lambda: asked() if _EVERY_MOMENT else Moments(0)

    steadily.moments_asked = moments


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """End with a table of what was not run here, and why: what is always skipped rots unseen."""
    reasons: dict[str, list[str]] = {}
    for report in terminalreporter.getreports("skipped"):
        where, _, reason = report.longrepr if isinstance(report.longrepr, tuple) else (report.fspath, 0, "")
        file = os.path.relpath(where, HERE.parent).partition(os.pardir)[0] or report.nodeid.partition("::")[0]
        reasons.setdefault(str(reason).removeprefix("Skipped: "), []).append(file)
    if reasons:
        terminalreporter.section("skipped here, and why")
        for reason, files in sorted(reasons.items(), key=lambda item: (-len(item[1]), item[0])):
            terminalreporter.write_line(f"{len(files):5}  {reason}  ({', '.join(sorted(set(files)))})")


def pytest_unconfigure() -> None:
    """Leave nothing in the temporary folder."""
    shutil.rmtree(STATE, ignore_errors=True)


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was imported and collected stays: no garbage is looked for in it, thousands of times.

    A step that is captured makes a hundred thousand objects, of which few are in cycles. What torch captures with is a
    million objects itself: where many tests are to come it is loaded first.
    """
    if len(session.items) > MANY:
        import torch._dynamo  # noqa: F401
    if "counterfoil.program.steadily" in sys.modules:
        _trace_at_first_only()
    if sys.platform == "linux":
        _fork_programs()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    gc.enable()


def _no_gpu() -> str | None:
    import torch

    return None if torch.cuda.is_available() else "this machine has no CUDA device"
