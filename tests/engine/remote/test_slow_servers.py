"""A server that is never quite silent keeps nobody waiting, and what is said of it has no name of a library's class."""

from __future__ import annotations

import io
import re
import socket
import time

import pytest

from counterfoil.remote import files
from counterfoil.remote.files import open_transfer
from counterfoil.remote.transfer import Patience
from counterfoil_core.base.errors import FileReadError
from counterfoil_core.remote.address import Address
from support.servers import serving
from support.sluggish import NEVER_ENDING, RIGHT, SLOW_BODY, WHOLE, answering, said

CLASS = re.compile(r"[A-Za-z]*(Error|Exception|Warning)\b|aiohttp|\bNone\b|object at")
"""What no sentence for a user has."""


def in_words(error: FileReadError, what: str) -> None:
    """It is said what happened, why, and what to do."""
    assert what in error.sentence, error.sentence
    assert "says nothing about the file itself" in error.sentence
    assert "download the file" in error.remedy
    assert not CLASS.search(str(error)), str(error)


def read_whole(url: str) -> None:
    transfer = open_transfer(Address(f"{url}/run.cfoil"))
    try:
        if transfer.has_ranges:
            transfer.fetch([(0, 4)])
        else:
            list(transfer.copy_into(io.BytesIO(), 2**30))
    finally:
        transfer.close()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("how", NEVER_ENDING)
def test_a_server_that_never_ends_its_answer_is_left_when_its_time_is_over(how: str) -> None:
    begun = time.monotonic()
    with answering(NEVER_ENDING[how]) as url, pytest.raises(FileReadError) as caught:
        read_whole(url)
    assert time.monotonic() - begun < 6
    in_words(caught.value, "stopped answering" if how in ("hangs", "status", "headers") else "too slow")


def test_a_trickled_copy_has_a_least_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    patience = Patience(silence=0.3, slowest=2**22, tries=2, pause=0.01, grace=60.0)
    monkeypatch.setattr(files, "PATIENCE", patience)
    begun = time.monotonic()
    with answering(SLOW_BODY) as url, pytest.raises(FileReadError) as caught:
        read_whole(url)
    assert time.monotonic() - begun < 5
    in_words(caught.value, "less than 4194304 bytes a second")


def test_pieces_that_each_come_in_time_have_a_time_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PATIENCE", Patience(silence=5.0, grace=0.3, answer=0.01))
    with serving(bytes(1000)) as served:
        transfer = open_transfer(Address(served.url))
        served.lie = lambda _start, piece: (time.sleep(0.2), piece)[1]
        with pytest.raises(FileReadError) as caught:
            all(transfer.fetch([(start, 1)]) for start in range(100))
        assert 2 < len(served.pieces) < 10, "control: some came"
        transfer.close()
    in_words(caught.value, "too slow")


@pytest.mark.parametrize(
    ("answers", "what"),
    [
        ([said(b"")], "the connection ended in the middle of its answer"),
        ([said(b"SSH-2.0-OpenSSH_9.2\r\n")], "its answer is none of HTTP"),
        ([said(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n")], "its answer is none of HTTP"),
        ([said(WHOLE.replace(b"\r\n\r\n", b"\r\nContent-Length: 9\r\n\r\nfour"))], "in the middle of its answer"),
        ([said(RIGHT + b"x"), said(RIGHT.replace(b"0-0", b"5-9") + b"x")], "another piece of the file"),
    ],
    ids=["hangs up", "another protocol", "no length", "cut short", "another piece"],
)
def test_a_server_that_answers_nonsense_is_told_in_words(answers, what: str) -> None:
    with answering(*answers) as url, pytest.raises(FileReadError) as caught:
        read_whole(url)
    in_words(caught.value, what)


def test_a_server_that_cannot_be_reached_is_told_in_words() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    for url, what in (
        (f"http://127.0.0.1:{port}/run.cfoil", "Connection refused"),
        ("http://no-such-name.invalid/run.cfoil", "no server of that name is found"),
    ):
        with pytest.raises(FileReadError) as caught:
            open_transfer(Address(url))
        in_words(caught.value, what)


def test_a_server_without_tls_is_told_in_words() -> None:
    with serving(b"data") as served, pytest.raises(FileReadError) as caught:
        open_transfer(Address(served.url.replace("http://", "https://")))
    in_words(caught.value, "no secure connection can be made")
