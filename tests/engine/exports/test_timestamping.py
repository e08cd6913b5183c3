"""A time-stamping server that is slow, silent, or leads elsewhere is left in bounded time, and told in words."""

from __future__ import annotations

import time

import pytest

from counterfoil.exports import timestamp
from counterfoil.exports.timestamp import ask_server
from counterfoil_core.base.errors import DataError
from support.servers import serving
from support.sluggish import NEVER_ENDING, WHOLE, answering, said


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(timestamp, "SECONDS", 1.0)


def refused(url: str, what: str) -> None:
    begun = time.monotonic()
    with pytest.raises(DataError) as caught:
        ask_server(url, b"query")
    assert time.monotonic() - begun < 3
    assert what in caught.value.sentence
    assert "Error" not in caught.value.sentence
    assert "leave --timestamp out" in caught.value.remedy


@pytest.mark.sampled(2)
@pytest.mark.parametrize("how", NEVER_ENDING)
def test_an_authority_that_never_ends_its_answer_is_left(how: str) -> None:
    with answering(NEVER_ENDING[how]) as url:
        refused(url, "it did not answer within 1 seconds")


def test_an_authority_that_leads_elsewhere_is_not_followed() -> None:
    with serving(b"stamp") as other:
        led = f"HTTP/1.1 302 Found\r\nLocation: {other.url}\r\nContent-Length: 0\r\n\r\n"
        with answering(said(led.encode())) as url:
            refused(url, "status 302, and leads elsewhere, which is not followed")
        assert not other.headers


@pytest.mark.parametrize(
    ("answer", "what"),
    [(b"", "gives no time stamp"), (b"SSH-2.0-OpenSSH_9.2\r\n", "none of HTTP"),
     (b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", "the status 503")],
)  # fmt: skip
def test_an_authority_that_answers_nonsense_is_told_in_words(answer: bytes, what: str) -> None:
    with answering(said(answer)) as url:
        refused(url, what)


def test_an_authority_of_another_kind_of_address_is_refused() -> None:
    for url in ("ftp://example.org", "http://[half", "nothing"):
        with pytest.raises(DataError, match="no address of a time-stamping server"):
            ask_server(url, b"query")


def test_control_an_answer_is_what_came() -> None:
    with answering(said(WHOLE + b"stamp")) as url:
        assert ask_server(url, b"query") == b"stamp"
