"""Commands whose every reading of what a stranger made is looked at: ``probed.py KEPT_OPEN < lines``.

Each line of standard input is the arguments of a command, as JSON; each line of the answer says how it ended, and which
parsers were called while no box was closed. What commands load is loaded before, and each runs in a fork of this
process. KEPT_OPEN names a command whose box is left open: the control.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any, NoReturn, cast

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")

from counterfoil.cli import app, commands
from counterfoil.delivery import rowfile, tensorfile
from counterfoil.sandbox import box
from counterfoil.training import stepfile
from counterfoil_core.arithmetic.compute.interpreter import Interpreter
from counterfoil_core.bundle.hdf5 import walk
from counterfoil_core.signing import envelope

PARSERS: dict[Callable[..., Any], str] = {
    walk.walk: "a bundle",
    envelope.payload_of: "a statement",
    envelope.open_statement: "a statement",
    tensorfile.open_tensors: "weights",
    rowfile.read_rows: "rows",
    stepfile.read_state: "a state",
    Interpreter.execute: "a program",
}


def watch(parser: FunctionType, look: Callable[[], None]) -> None:
    """Let a function look whenever it is called, whoever took it by its name before."""
    own = FunctionType(parser.__code__, parser.__globals__, parser.__name__, parser.__defaults__, parser.__closure__)
    own.__kwdefaults__ = parser.__kwdefaults__

    def looked(*args: Any, **named: Any) -> Any:
        look()
        return own(*args, **named)

    name = f"_watched_{parser.__name__}"
    parser.__globals__[name] = looked
    made: dict[str, Any] = {}
    exec(f"def instead(*args, **named): return {name}(*args, **named)", made)
    parser.__code__, parser.__defaults__, parser.__kwdefaults__ = made["instead"].__code__, None, None


def run(arguments: list[str], kept_open: str) -> NoReturn:
    """Be one command."""
    seen: set[str] = set()
    parsed: set[str] = set()

    def look(name: str) -> None:
        parsed.add(name)
        if not box.sandbox().startswith("landlock"):
            seen.add(name)

    for parser, name in PARSERS.items():
        watch(cast(FunctionType, parser), partial(look, name))
    out = io.StringIO()
    answer, sys.stdout, sys.stderr = sys.stdout, out, out
    sys.argv[:] = ["counterfoil", *arguments]
    for name, place in list(commands.PLACES.items()):
        if name == kept_open:
            commands.PLACES[name] = commands.Place(place.where, place.about, place.with_key, place.writes, "a control")
    code = app.main()
    said = {"code": code, "open": sorted(seen), "parsed": sorted(parsed), "box": box.sandbox(), "said": out.getvalue()}
    answer.write(json.dumps(said) + "\n")
    answer.flush()
    os._exit(0)


def main() -> None:
    """Run each."""
    for line in sys.stdin:
        sys.stdout.flush()
        process = os.fork()
        if not process:
            run(json.loads(line), sys.argv[1])
        os.waitpid(process, 0)


if __name__ == "__main__":
    main()
