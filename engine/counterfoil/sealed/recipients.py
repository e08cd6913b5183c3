"""Judges' sealing keys, the public half: files of age recipients, as ``age -R`` reads them. Pure, but for reading."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from counterfoil_core.base.errors import KeyFileError
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.sentence import say

MOST_BYTES = 2**16
MOST_RECIPIENTS = 100
"""Of one file that is sealed: its header stays far below what a reader takes."""
# Bech32 (BIP 173) of 32 bytes with the prefix "age": 52 characters and a checksum of 6, which the library checks.
_RECIPIENT = re.compile(r"age1[02-9ac-hj-np-z]{58}")
_PRIVATE = "AGE-SECRET-KEY-"


def recipients_path(identity: Path) -> Path:
    """Return where the public half of a sealing key lies: ``judge.key`` has ``judge.pub``."""
    return identity.with_name(f"{identity.stem}.pub")


def read_recipients(paths: Sequence[Path]) -> tuple[str, ...]:
    """Read the public sealing keys of judges, each once, in the order of the files.

    Args:
        paths: Files with one recipient a line; lines that are empty or begin with ``#`` say nothing.

    Returns:
        Recipients of X25519, ``age1...``.

    Raises:
        KeyFileError: A file cannot be read, holds none, or something else; or there are more than 100.
    """
    found: dict[str, None] = {}
    for path in paths:
        data = read_input(path, say("a public sealing key"), KeyFileError, most=MOST_BYTES)
        found.update(dict.fromkeys(_recipients(path, data)))
    if len(found) > MOST_RECIPIENTS:
        raise KeyFileError(say("A file is sealed for {0} judges at most.", MOST_RECIPIENTS))
    return tuple(found)


def _recipients(path: Path, data: bytes) -> list[str]:
    if _PRIVATE.encode() in data.upper():
        raise KeyFileError(
            say("{0} is a private sealing key.", path.name),
            remedy=say("Give the public one, {0}, and keep this one secret.", recipients_path(path).name),
        )
    try:
        lines = data.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise _none(path, str(error)) from error
    written = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not written or not all(_RECIPIENT.fullmatch(line) for line in written):
        raise _none(path)
    return written


def _none(path: Path, detail: str = "") -> KeyFileError:
    return KeyFileError(
        say("{0} is no public sealing key: one line that begins with age1.", path.name),
        remedy=say("The judge makes one with 'counterfoil keygen --sealing judge.key', and hands out judge.pub."),
        detail=detail,
    )
