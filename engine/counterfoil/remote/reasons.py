"""Why a server could not be read from, in words: no name of a library's class tells a user what to do."""

from __future__ import annotations

import os
import socket
import ssl

from counterfoil_core.base.sentence import say


def reason_of(error: BaseException) -> str:
    """Return why a connection failed, by what the system says of it where it does.

    Args:
        error: What was raised; the first error of the system among it and its causes counts.
    """
    seen: list[BaseException] = []
    at: BaseException | None = error
    while at is not None and at not in seen:
        seen.append(at)
        # Some libraries keep the error of the system beside theirs, and urllib in the place of a reason.
        inner = getattr(at, "os_error", None) or getattr(at, "reason", None)
        if isinstance(inner, BaseException):
            at = inner
        elif isinstance(at, ssl.SSLCertVerificationError):
            return say("its certificate is not to be trusted ({0})", at.verify_message)
        elif isinstance(at, ssl.SSLError):
            return say("no secure connection can be made ({0})", (at.reason or "TLS").replace("_", " ").lower())
        elif isinstance(at, socket.gaierror):
            return say("no server of that name is found ({0})", at.strerror)
        elif isinstance(at, TimeoutError):
            return say("it does not answer in time")
        elif isinstance(at, OSError) and at.errno is not None and at.errno > 0:
            return os.strerror(at.errno)
        else:
            at = at.__cause__
    return say("the connection failed")
