"""The process that carries out one ``counterfoil order`` for a program, and tells what it does through a pipe."""

from __future__ import annotations

import _thread
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import BinaryIO, NoReturn

from counterfoil.base.raised import told
from counterfoil.cli.orderforms import OWN, SCRIPT, OrderForm, order_forms
from counterfoil.cli.ordering import MAX_BYTES, OrderAsked, OrderFailed
from counterfoil.cli.telling import OrderWritten, telling
from counterfoil.talk.frames import own_pipes, read_frame, write_frame
from counterfoil.talk.messages import decode, encode
from counterfoil_core.base.errors import CancelledError, CounterfoilError

_WORDS = {"batch": "batch_size", "shares": "shares", "learning rate": "learning_rate"}
"""Words of sentences that name no option, and the option that they are about."""
STOPPED = "Stopped; no order was written."


def main() -> None:
    """Carry out what is asked for, and end: what the process is."""
    questions, answers = own_pipes()
    frame = read_frame(questions, MAX_BYTES)
    if frame is None:
        return
    asked: OrderAsked = decode(frame, OrderAsked)
    signal.signal(signal.SIGTERM, _interrupted)
    threading.Thread(target=_watch, args=(questions,), daemon=True).start()

    def tell(message: object) -> None:
        if isinstance(message, (OrderWritten, OrderFailed)):
            # It is over: whoever listens may hang up now, and nothing is to be stopped any more.
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        write_frame(answers, encode(message))

    # What the command shows on a terminal is told; what the client's code prints is for nobody.
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - to the end of the process
    try:
        with telling(tell):
            _carry_out(asked)
    except BaseException as error:
        failed = failure_of(error, asked.arguments)
        with suppress(OSError, ValueError):  # nobody may listen any more
            tell(failed)


def _carry_out(asked: OrderAsked) -> None:
    from typer.main import get_command

    from counterfoil.cli.app import app

    if asked.folder:
        os.chdir(asked.folder)
        with suppress(ValueError):
            sys.path.remove(asked.folder)
    get_command(app).main(["order", *asked.arguments], prog_name="counterfoil", standalone_mode=False)


def failure_of(error: BaseException, arguments: Sequence[str]) -> OrderFailed:
    """Say why a command wrote no order, and which of its options that is about.

    Args:
        error: What it raised.
        arguments: Its arguments.
    """
    stopped = isinstance(error, (CancelledError, KeyboardInterrupt))
    if stopped:
        return OrderFailed(STOPPED, "", "", "", stopped=True)
    if isinstance(error, CounterfoilError):
        option = option_of(f"{error.sentence} {error.remedy}", arguments)
        return OrderFailed(error.sentence, error.remedy, error.detail, option, stopped=False)
    usage = getattr(error, "format_message", None)  # of the library that reads command lines
    if usage is not None:
        sentence = usage()
        return OrderFailed(sentence, "", "", option_of(sentence, arguments), stopped=False)
    trace = "".join(traceback.format_exception(error))
    remedy = "This is a bug. Please report it with the details."
    return OrderFailed(f"Counterfoil failed: {told(error)}.", remedy, trace, "", stopped=False)


def option_of(said: str, arguments: Sequence[str]) -> str:
    """Return the name of the option that a sentence is about, by what it quotes; empty where it quotes none.

    Args:
        said: The sentence, and its remedy.
        arguments: The arguments of the command.
    """
    form = _form(arguments)
    named = [(len(value), name) for name, value in _paths(form, arguments) if value and value in said]
    if named:  # the longest: a file lies in a folder that may be named too
        return max(named)[1]
    flags = {flag: each.name for each in form.options for flag in (each.flag, each.off) if flag}
    for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]*", said):  # the first that is named is what is wrong
        if flag in flags:
            return flags[flag]
    return next((name for word, name in _WORDS.items() if re.search(rf"\b{word}\b", said)), "")


def _form(arguments: Sequence[str]) -> OrderForm:
    forms = {form.name: form for form in order_forms()}
    own = SCRIPT if "--script" in arguments else OWN
    return forms.get(arguments[0] if arguments else "", forms[own])


def _paths(form: OrderForm, arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The options that name files, folders or modules, as they are among the arguments."""
    flags = {option.flag: option for option in form.options if option.flag and option.kind != "switch"}
    positional = [option for option in form.options if not option.flag and option.kind != "arguments"]
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    rest = iter(own if form.own_code else own[1:])
    for token in rest:
        option = flags.get(token) or (positional.pop(0) if positional and not token.startswith("-") else None)
        value = next(rest, "") if token in flags else token
        if option is not None and option.kind in ("file", "folder"):
            yield option.name, value
        elif option is not None and option.kind == "function":
            yield option.name, value.partition(":")[0]


def _interrupted(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def _watch(questions: BinaryIO) -> None:
    """Stop the work when whoever asked for it hangs up."""
    with suppress(OSError, ValueError):
        questions.read(1)
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
    else:
        _thread.interrupt_main(signal.SIGTERM)
