"""Which tests can see a mutant, and whether one does."""

from __future__ import annotations

import json
import re
import time
from functools import cached_property
from pathlib import Path
from typing import Any

from mutation import warm
from mutation.mutants import Mutant

ROOMS_OF_TESTS = ("tests/engine/audit/", "tests/attacks/", "tests/engine/", "tests/independent/")
"""Where tests are looked for when those near the mutant do not see it."""
MEASURE_SECONDS = 200.0
COMPILING_SECONDS = 240.0
SLOWDOWN = 8.0
"""A test that takes so many times as long as when it was measured runs for ever."""


class Reach:
    """Which functions each test reaches: measured once for every version of a test file.

    Args:
        file: Where it is kept, as JSON lines; the last line for a file counts.
        package: The folder in which the packages of the engine lie.
    """

    def __init__(self, file: Path, package: Path) -> None:
        self._file, self._package = file, package
        self._known: dict[str, Any] = {}
        self._sound: dict[str, bool] = {}
        if file.is_file():
            for line in file.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                self._known[entry["file"]] = entry

    def of(self, file: str) -> dict[str, Any]:
        """Seconds and functions reached of each test of a file."""
        digest = warm.digest(warm.ROOT / file)
        entry = self._known.get(file)
        if entry is None or entry["digest"] != digest:
            try:
                tests = warm.forked(lambda: warm.reach(file, self._package), MEASURE_SECONDS)
            except warm.Forked:
                tests = {}
            entry = self._known[file] = {"file": file, "digest": digest, "tests": tests}
            with self._file.open("a", encoding="utf-8") as sink:
                print(json.dumps(entry), file=sink)
        tests = entry["tests"]
        assert isinstance(tests, dict)
        return tests

    def sound(self, name: str, seconds: float) -> bool:
        """Whether a test that saw a mutant passes by itself where there is none: the control, made once for each."""
        if name not in self._sound:
            try:
                self._sound[name] = not warm.forked(lambda: warm.run_tests([name]), seconds)
            except warm.Forked:
                self._sound[name] = False
        return self._sound[name]

    @cached_property
    def _texts(self) -> dict[str, str]:
        return {
            path.relative_to(warm.ROOT).as_posix(): path.read_text(encoding="utf-8")
            for path in sorted((warm.ROOT / "tests").rglob("test_*.py"))
            if path.parts[len(warm.ROOT.parts) + 1] not in ("app", "models", "mutation", "benchmarks")
            and path.name not in ("test_mutation.py", "test_exact_triton.py")
        }

    def files(self, mutant: Mutant) -> list[str]:
        """Files of tests, those near the mutant first: its namesake, who imports it, its room's, and the others."""
        module = mutant.path.removesuffix(".py").replace("/", ".")
        package, _, name = module.rpartition(".")
        imports = re.compile(
            rf"(from {re.escape(package)}\.{name} |import {re.escape(package)}\.{name}\b"
            rf"|from {re.escape(package)} import [^\n]*\b{name}\b)"
        )
        room = f"tests/engine/{mutant.path.split('/')[1]}/"

        def distance(file: str) -> tuple[int, str]:
            near = f"/test_{name}.py" in file, f"/test_{name}" in file, bool(imports.search(self._texts[file]))
            places = (
                near[0] and file.startswith(room), near[1] and file.startswith(room), near[2] and file.startswith(room),
                near[2], file.startswith(room), *(file.startswith(each) for each in ROOMS_OF_TESTS), True,
            )  # fmt: skip
            return places.index(True), file

        return sorted(self._texts, key=distance)


def tried(mutant: Mutant, reach: Reach, package: Path, budget: float, patience: float) -> dict[str, Any]:
    """Return what became of a mutant, for the results.

    Args:
        mutant: The mutant.
        reach: Of the tests.
        package: The folder in which the packages of the engine lie.
        budget: Seconds of tests of one file, as they were measured.
        patience: Seconds after which no further file is asked.
    """
    begun = time.monotonic()
    asked, outcome, by = 0, "unreached", ""
    function, lines = _place(mutant, (package / mutant.path).read_text(encoding="utf-8"))
    for file in reach.files(mutant):
        if time.monotonic() - begun > patience:
            break
        chosen = _chosen(reach.of(file), function, lines, budget)
        asked += len(chosen)
        while chosen:
            seconds = 60.0 + SLOWDOWN * sum(chosen.values()) + _compiling(mutant)
            outcome, by = _outcome(mutant, package, list(chosen), seconds)
            if by not in chosen or reach.sound(by, 60.0 + SLOWDOWN * chosen[by]):
                break
            # This one fails by itself too, without the tests that stood before it in its file.
            del chosen[by]
        if outcome not in ("survived", "unreached"):
            break
    return {
        "key": mutant.key,
        "path": mutant.path,
        "function": mutant.function,
        "operator": mutant.operator,
        "before": mutant.before,
        "after": mutant.after,
        "outcome": outcome,
        "by": by,
        "tests": asked,
        "seconds": round(time.monotonic() - begun, 1),
    }


def _compiling(mutant: Mutant) -> float:
    return COMPILING_SECONDS if mutant.compiled else 0.0


def _place(mutant: Mutant, text: str) -> tuple[str, set[int]]:
    """Where a mutant stands, as :func:`mutation.warm.reach` names it: function, and lines of its statement."""
    if mutant.compiled:
        # Coverage does not see compiled functions: whoever reaches their module may reach them.
        return f"{mutant.path}::", set()
    within = [
        first for name, first, body in warm.bodies(text) if name == mutant.function and first <= mutant.line < body.stop
    ]
    return f"{mutant.path}::{mutant.function}", {line - within[0] for line in warm.statement(text, mutant.line)}


def _chosen(tests: dict[str, Any], function: str, lines: set[int], budget: float) -> dict[str, float]:
    """The tests that reach a statement, or a module, in their order; as many as the budget allows, at least one."""
    reaching = {
        name: seconds
        for name, (seconds, reached) in tests.items()
        if (lines & set(reached.get(function, ())) if lines else any(each.startswith(function) for each in reached))
    }
    chosen: dict[str, float] = {}
    for name, seconds in reaching.items():
        if not chosen or sum(chosen.values()) + seconds <= budget:
            chosen[name] = seconds
    return chosen


def _outcome(mutant: Mutant, package: Path, names: list[str], seconds: float) -> tuple[str, str]:
    def work() -> str:
        if not warm.apply(package / mutant.path, mutant.source, mutant.first, mutant.last):
            return "not applied"
        return warm.run_tests(names)

    try:
        failed = warm.forked(work, seconds)
    except warm.Forked as error:
        # A test that never ends, and a process that ends at once, are seen by whoever runs the tests.
        return "killed", str(error)
    if failed == "not applied":
        return "not applied", ""
    return ("killed", failed) if failed else ("survived", "")
