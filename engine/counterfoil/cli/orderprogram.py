"""The process that carries out one ``counterfoil order`` for a program, and tells what it does through a pipe."""

from __future__ import annotations

import _thread
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import NoReturn

from counterfoil.base.foreignerrors import describe_error
from counterfoil.base.joberrors import OrderError
from counterfoil.cli.commandevents import OrderEvent, OrderWritten, report_to
from counterfoil.cli.commandforms import OWN, PATHS, SCORING, SCRIPT, CommandForm, order_forms
from counterfoil.cli.orderprocess import ORDERS
from counterfoil.talk.line import Line
from counterfoil.talk.table import ORDER
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, CounterfoilError

_WORDS = {"batch": "batch_size", "shares": "shares", "learning rate": "learning_rate"}
"""Words of sentences that name no option, and the option that they are about."""
STOPPED = "Stopped; no order was written."


def main() -> None:
    """Carry out what is asked for, and end: what the process is."""
    Line(ORDER, ORDERS, leaves=False).serve(_carry_out, stop=_stop)


def _carry_out(arguments: Sequence[str], folder: str, tell: Callable[[OrderEvent], None]) -> None:
    from typer.main import get_command

    from counterfoil.cli.app import app

    def say_last(message: OrderEvent) -> None:
        if isinstance(message, OrderWritten):
            # It is over: nothing is to be stopped any more.
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        tell(message)

    signal.signal(signal.SIGTERM, _interrupted)
    # What the command shows on a terminal is told; what the client's code prints is for nobody.
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - to the end of the process
    try:
        if folder:
            os.chdir(folder)
            with suppress(ValueError):
                sys.path.remove(folder)
        with report_to(say_last):
            get_command(app).main(["order", *arguments], prog_name="counterfoil", standalone_mode=False)
    except BaseException as error:
        raise failure_of(error, _form(arguments), arguments) from error
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


def failure_of(error: BaseException, form: CommandForm, arguments: Sequence[str]) -> CounterfoilError:
    """Say why a command did not do its work, and which of its options that is about.

    Args:
        error: What it raised.
        form: What it takes.
        arguments: Its arguments.
    """
    if isinstance(error, (CancelledError, KeyboardInterrupt)):
        return CancelledError(STOPPED)
    if isinstance(error, CounterfoilError):
        option = option_of(f"{error.sentence} {error.remedy}", form, arguments)
        return OrderError(error.sentence, remedy=error.remedy, detail=error.detail, option=option)
    usage = getattr(error, "format_message", None)  # of the library that reads command lines
    if usage is not None:
        sentence = usage()
        return OrderError(sentence, option=option_of(sentence, form, arguments))
    trace = "".join(traceback.format_exception(error))
    remedy = "This is a bug. Please report it with the details."
    return OrderError(f"Counterfoil failed: {describe_error(error)}.", remedy=remedy, detail=trace)


def option_of(said: str, form: CommandForm, arguments: Sequence[str]) -> str:
    """Return the name of the option that a sentence is about, by what it quotes; empty where it quotes none.

    Args:
        said: The sentence, and its remedy.
        form: What the command takes.
        arguments: Its arguments.
    """
    quoted = [(text, name) for name, value in _paths(form, arguments) for text in (value, os.path.basename(value))]
    named = [(len(text), name) for text, name in quoted if text and text in said]
    if named:  # the longest: a file lies in a folder that may be named too
        return max(named)[1]
    flags = {flag: each.name for each in form.options for flag in (each.flag, each.off) if flag}
    for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]*", said):  # the first that is named is what is wrong
        if flag in flags:
            return flags[flag]
    return next((name for word, name in _WORDS.items() if re.search(rf"\b{word}\b", said)), "")


def _form(arguments: Sequence[str]) -> CommandForm:
    forms = {form.name: form for form in order_forms()}
    first = arguments[0] if arguments else ""
    if "--script" in arguments:
        return forms[SCRIPT if first.startswith("-") else SCORING]
    return forms.get(first, forms[OWN])


def _paths(form: CommandForm, arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The options that name files, folders or modules, as they are among the arguments."""
    flags = {option.flag: option for option in form.options if option.flag and option.kind != "switch"}
    positional = [option for option in form.options if not option.flag and option.kind != "arguments"]
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    rest = iter(own[len(form.words) :])
    for token in rest:
        option = flags.get(token) or (positional.pop(0) if positional and not token.startswith("-") else None)
        value = next(rest, "") if token in flags else token
        if option is not None and option.kind in PATHS:
            yield option.name, value
        elif option is not None and option.kind == "function":
            yield option.name, value.partition(":")[0]


def _interrupted(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def _stop(_token: CancelToken) -> None:
    """Stop the work, from the thread that listens."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
    else:
        _thread.interrupt_main(signal.SIGTERM)
