"""The passphrase in the environment of a command: taken out of it before a file of a stranger's is opened.

What a process is started with stays in its memory, and in ``/proc/PID/environ``, whatever it does to its variables
later. So the command puts the passphrase into a socket and executes itself again without the variable: the process that
reads files never had it. The signer reads it from there.
"""

from __future__ import annotations

import errno
import os
import socket
import sys
from contextlib import suppress

from counterfoil.talk.programs import DESCRIPTOR_VARIABLE, PASSPHRASE_VARIABLE
from counterfoil_core.base.errors import KeyFileError
from counterfoil_core.base.sentence import say

MAX_PASSPHRASE_BYTES = 4096


def hide_passphrase() -> None:
    """Move the passphrase from the environment of this process into a socket, if it is there.

    Where a process can be replaced by another (not on Windows), this one is: by the same command without the variable.
    It returns if there is nothing to hide; otherwise it starts the command from its beginning.

    Raises:
        KeyFileError: The variable holds more than a passphrase can have.
    """
    text = os.environ.pop(PASSPHRASE_VARIABLE, None)
    if text is None:
        return
    os.environ[DESCRIPTOR_VARIABLE] = str(pipe_of(text))
    # A program that is read from standard input, or typed, cannot be started again.
    if os.name == "posix" and sys.executable and sys.argv[0] not in ("", "-", "-c"):
        os.set_inheritable(int(os.environ[DESCRIPTOR_VARIABLE]), True)
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], os.environ)


def take_descriptor() -> int | None:
    """Return the descriptor that gives the passphrase, which now belongs to the caller; None when there is none.

    Raises:
        KeyFileError: The variable names no open file descriptor.
    """
    number = os.environ.pop(DESCRIPTOR_VARIABLE, None)
    if number is None:
        text = os.environ.get(PASSPHRASE_VARIABLE)  # of a program that calls the command line as a function
        return None if text is None else pipe_of(text)
    try:
        descriptor = _own(int(number))
    except (ValueError, OverflowError, OSError) as error:
        raise KeyFileError(
            say("The environment variable {0} names no open file descriptor.", DESCRIPTOR_VARIABLE),
            remedy=say("In a shell: {0}=3 counterfoil ... 3< <(your password manager)", DESCRIPTOR_VARIABLE),
        ) from error
    return descriptor


def drop_passphrase() -> None:
    """Close what gives the passphrase, in a command that needs none."""
    number = os.environ.pop(DESCRIPTOR_VARIABLE, "")
    if number.isdecimal():
        with suppress(OSError, OverflowError):
            os.close(_own(int(number)))


def _own(descriptor: int) -> int:
    """Return a descriptor that can be closed: where it is standard input, nothing that is opened gets its number.

    Raises:
        OSError, OverflowError: It is not open, or one that is written to.
    """
    if descriptor in (1, 2):
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    if descriptor:
        os.set_inheritable(descriptor, False)
        return descriptor
    moved = os.dup(descriptor)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, descriptor)
    os.close(nothing)
    return moved


def pipe_of(text: str) -> int:
    """Return what a text can be read from, once; on POSIX none that others of the same user can open, as a pipe is."""
    data = text.encode("utf-8", "surrogateescape")
    if len(data) > MAX_PASSPHRASE_BYTES:  # a pipe or socket of any system holds this much without a reader
        raise KeyFileError(say("What {0} holds is too long for a passphrase.", PASSPHRASE_VARIABLE))
    reading, writing = (end.detach() for end in socket.socketpair()) if os.name == "posix" else os.pipe()
    os.write(writing, data)
    os.close(writing)
    return reading
