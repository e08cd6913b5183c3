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
import threading
from types import CodeType, FrameType
from typing import Any, NoReturn

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")

from counterfoil.cli import app, commands
from counterfoil.delivery import rowfile, tensorfile
from counterfoil.sandbox import box
from counterfoil.training import stepfile
from counterfoil_core.arithmetic.compute.interpreter import Interpreter
from counterfoil_core.bundle.hdf5 import walk
from counterfoil_core.signing import envelope

PARSERS: dict[CodeType, str] = {
    walk.walk.__code__: "a bundle",
    envelope.payload_of.__code__: "a statement",
    envelope.open_statement.__code__: "a statement",
    tensorfile.open_tensors.__code__: "weights",
    rowfile.read_rows.__code__: "rows",
    stepfile.read_state.__code__: "a state",
    Interpreter.execute.__code__: "a program",
}


def run(arguments: list[str], kept_open: str) -> NoReturn:
    """Be one command."""
    seen: set[str] = set()
    parsed: set[str] = set()

    def look(frame: FrameType, event: str, _value: Any) -> None:
        name = PARSERS.get(frame.f_code) if event == "call" else None
        if name is not None:
            parsed.add(name)
            if not box.sandbox().startswith("landlock"):
                seen.add(name)

    out = io.StringIO()
    answer, sys.stdout, sys.stderr = sys.stdout, out, out
    sys.argv[:] = ["counterfoil", *arguments]
    for name, place in list(commands.PLACES.items()):
        if name == kept_open:
            commands.PLACES[name] = commands.Place(place.where, place.about, place.with_key, place.writes, "a control")
    threading.setprofile(look)
    sys.setprofile(look)
    code = app.main()
    sys.setprofile(None)
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
