"""A process that speaks, for tests of how processes do: run by its path."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

from counterfoil.talk.line import Line
from counterfoil.talk.port import Enclosure, Port
from counterfoil.talk.table import Program
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import GivenFileError


class Bank:
    """What the process asks of whoever started it."""

    def lend(self, amount: int) -> int:
        if amount > 100:
            raise GivenFileError("Too much.", role="order", remedy="Ask for less.")
        return amount


class Till:
    line: Line[Till]

    def pay(self, amount: int) -> str:
        if amount < 0:
            raise GivenFileError("Nothing is paid back.", role="data", remedy="Pay.", detail="d")
        return f"paid {amount}"

    def borrow(self, amount: int) -> int:
        return self.line.ask(BANK, Bank.lend, amount)

    def count(self, cancel: CancelToken) -> Iterator[int]:
        for number in range(10**6):
            cancel.check()
            yield number
            time.sleep(0.001)

    def spell(self, word: str, tell: Callable[[str], None]) -> Iterator[str]:
        for letter in word:
            tell(letter)
        return iter(())

    def look_around(self) -> tuple[int, int]:
        """How many threads there are, and what is borrowed meanwhile."""
        return threading.active_count(), self.line.ask(BANK, Bank.lend, 5)

    def hire(self) -> int:
        return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid

    def fail(self, how: str) -> int:
        if how == "exit":
            os._exit(7)
        if how == "hang":
            time.sleep(600)
        if how == "lie":
            return "text"  # type: ignore[return-value]
        raise ZeroDivisionError(how)


TILL = Port[Till](Till.pay, Till.borrow, Till.count, Till.spell, Till.look_around, Till.hire, Till.fail)
BANK = Port[Bank](Bank.lend)
PROGRAM = Program("till", "none", "none", hears=10_000, says=10_000, farewell=0.5)
OPEN = Enclosure(open="a test")

if __name__ == "__main__":
    till = Till()
    till.line = Line(PROGRAM, TILL)
    if sys.argv[1:] == ["alone"]:
        till.line.serve_one(till)
    elif till.line.enclosed(till) is not None:
        till.line.serve(till)
