"""What code of others raises: caught whatever it is, and told in words that themselves cannot fail.

A client's module, and a library that reads a stranger's folder, may raise what is no ``Exception`` (a panic of compiled
Rust code, ``sys.exit``), or something whose text cannot be made.
"""

from __future__ import annotations


def theirs(error: BaseException) -> BaseException:
    """Return what code of others raised; to be called first where everything is caught.

    Raises:
        KeyboardInterrupt, GeneratorExit: The user stopped the program, or it ends: that is nobody's fault.
    """
    if isinstance(error, (KeyboardInterrupt, GeneratorExit)):
        raise error
    return error


def text_of(error: BaseException) -> str:
    """Return what an exception says; its kind alone where it cannot say it."""
    try:
        return str(error)
    except Exception:
        return f"a {type(error).__name__} that cannot be shown"


def describe_error(error: BaseException) -> str:
    """Return an exception as part of a sentence: its kind, and the first line of what it says."""
    line = text_of(error).strip().partition("\n")[0].rstrip(".")
    return f"{type(error).__name__}: {line}" if line else type(error).__name__
