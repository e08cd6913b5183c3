"""A real server of this machine gives pieces, none, others, nothing, or another file."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import fsspec
import pytest

from counterfoil.remote.files import local_copy, near, open_transfer
from counterfoil.remote.transfer import Transfer
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, FileChangedError, FileReadError, GivenFileError
from counterfoil_core.remote.address import Address
from support.servers import Served, serving

DATA = bytes(range(256)) * 400


@contextmanager
def opened(served: Served, cancel: CancelToken | None = None) -> Iterator[Transfer]:
    transfer = open_transfer(Address(served.url), cancel)
    try:
        yield transfer
    finally:
        transfer.close()


def test_pieces_are_those_that_were_asked_for_and_are_counted() -> None:
    with serving(DATA) as served, opened(served) as file:
        assert (file.size, file.has_ranges) == (len(DATA), True)
        spans = [(0, 10), (1000, 5), (len(DATA) - 7, 7), (1, 1)]
        assert file.fetch(spans) == [DATA[start : start + count] for start, count in spans]
        assert (file.fetched.bytes, file.fetched.requests) == (23, 4)
        assert sorted(served.pieces) == sorted([(0, 1), *spans]), "one piece tells what the file is"
        assert served.sent == 24
        file.check_unchanged()


def test_the_name_and_password_of_an_address_stand_in_no_sentence() -> None:
    with serving(DATA, answer=lambda _: 403) as served:
        secret = served.url.replace("http://", "http://me:secret@") + "?token=hidden"
        with pytest.raises(GivenFileError, match="does not let http://127") as caught:
            open_transfer(Address(secret))
    assert "secret" not in str(caught.value) + caught.value.detail
    assert "hidden" not in str(caught.value) + caught.value.detail


def test_a_redirect_on_one_server_is_followed() -> None:
    with serving(DATA, leads={"/moved/run.cfoil": "/bucket/run.cfoil"}) as served:
        served.url = served.url.replace("/bucket/", "/moved/")
        with opened(served) as file:
            assert file.fetch([(5, 3)]) == [DATA[5:8]]


def test_another_server_gets_neither_a_question_nor_the_users_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(fsspec.config.conf, "http", {"client_kwargs": {"headers": {"X-Api-Key": "a secret"}}})
    with serving(DATA) as other, serving(DATA) as served:
        led = f"{other.url}?signature=hidden"
        served.leads["/bucket/run.cfoil"] = led
        with pytest.raises(GivenFileError, match="leads to another server") as caught:
            open_transfer(Address(served.url))
        assert served.headers[0]["X-Api-Key"] == "a secret"
        assert not other.headers
    assert other.url in str(caught.value)
    assert "hidden" not in str(caught.value) + caught.value.remedy


@pytest.mark.parametrize("led", ["https://127.0.0.1/run.cfoil", "ftp://127.0.0.1/run.cfoil", "http://[", "//evil"])
def test_a_redirect_by_another_scheme_or_to_nowhere_is_not_followed(led: str) -> None:
    with serving(DATA, leads={"/bucket/run.cfoil": led}) as served, pytest.raises((GivenFileError, FileReadError)):
        open_transfer(Address(served.url))


def test_a_server_that_leads_in_a_circle_is_left() -> None:
    with serving(DATA, leads={"/bucket/run.cfoil": "/bucket/run.cfoil"}) as served:
        with pytest.raises(FileReadError, match="from one address to another"):
            open_transfer(Address(served.url))
        assert len(served.headers) < 30


def test_a_file_that_is_not_there_is_the_users_slip() -> None:
    with serving(DATA) as served, pytest.raises(GivenFileError, match=r"There is no file http://127.*other\.txt"):
        open_transfer(Address(served.url.replace("run.cfoil", "other.txt")))


def test_a_server_that_is_not_there_is_nobodys_fault() -> None:
    with serving(DATA) as served:
        gone = served.url
    with pytest.raises(FileReadError, match="cannot be read from") as caught:
        open_transfer(Address(gone))
    assert "says nothing about the file" in caught.value.sentence
    assert "download the file" in caught.value.remedy


def test_an_answer_that_fails_once_is_asked_for_again() -> None:
    left = [503]
    with serving(DATA, answer=lambda start: left.pop() if start == 50 and left else 0) as served:
        with opened(served) as file:
            assert file.fetch([(50, 4)]) == [DATA[50:54]]
        assert served.pieces.count((50, 4)) == 2


def test_a_server_that_stalls_is_given_up_with_one_sentence() -> None:
    with serving(DATA, stall=lambda start: start == 50) as served, opened(served) as file:
        begun = time.monotonic()
        with pytest.raises(FileReadError, match=r"stopped answering: nothing came in 0\.4 seconds, or .*, 2 times"):
            file.fetch([(0, 4), (50, 4), (100, 4)])
        assert time.monotonic() - begun < 5
        assert file.fetch([(100, 4)]) == [DATA[100:104]], "control: the others are answered"


def test_a_server_that_stalls_can_be_cancelled() -> None:
    cancel = CancelToken()
    with serving(DATA, stall=lambda start: start == 50) as served, opened(served, cancel) as file:
        threading.Timer(0.1, cancel.cancel).start()
        begun = time.monotonic()
        with pytest.raises(CancelledError):
            file.fetch([(50, 4)])
        assert time.monotonic() - begun < 0.4, "before the server's time is over"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda served: setattr(served, "tag", '"two"'), "another ETag"),
        (lambda served: setattr(served, "data", DATA + b"!"), "it had 102400 bytes, and has 102401 now"),
        (lambda served: setattr(served, "data", b""), "it had 102400 bytes, and has 0 now"),
    ],
)
def test_a_file_that_changes_between_two_pieces_is_noticed(change, said: str) -> None:
    with serving(DATA) as served, opened(served) as file:
        file.fetch([(0, 4)])
        change(served)
        for look in (lambda: file.fetch([(8, 4)]), file.check_unchanged):
            with pytest.raises(FileChangedError, match="changed on its server while it was read") as caught:
                look()
            assert said in caught.value.sentence


@pytest.mark.parametrize(
    ("lie", "said"),
    [
        (lambda start, piece: piece[:-1] if start else piece, "stopped answering"),
        (lambda start, piece: piece + b"?" * 10 if start else piece, ""),
    ],
    ids=["too short", "too long"],
)
def test_pieces_of_another_length_are_never_taken(lie, said: str) -> None:
    with serving(DATA, lie=lie) as served, opened(served) as file:
        if said:
            with pytest.raises(FileReadError, match=said):
                file.fetch([(8, 4)])
        else:  # What stands behind the length of an answer is no part of it; where both come at once, it is an error.
            with suppress(FileReadError):
                assert file.fetch([(8, 4)]) == [DATA[8:12]]


def test_a_server_that_gives_no_pieces_is_read_whole() -> None:
    with serving(DATA, ranges=False) as served, near(Address(served.url)) as found:
        assert not isinstance(found, Address)
        assert found.name == "run.cfoil"
        assert found.read_bytes() == DATA
    assert not found.exists(), "the copy goes when the command is done"


def test_a_server_that_gives_pieces_is_not() -> None:
    with serving(DATA) as served, near(Address(served.url)) as found:
        assert found == Address(served.url)
        # Whoever asked may have gone when it is sent.
        assert served.pieces == [(0, 1)]


@pytest.mark.parametrize("length", [True, False])
def test_a_file_that_is_too_large_to_be_read_whole_is_refused(length: bool) -> None:
    with (
        serving(DATA, ranges=False, length=length) as served,
        pytest.raises(GivenFileError, match=r"gives no pieces .* more than 1000 bytes") as caught,
        near(Address(served.url), most=1000),
    ):
        pass
    assert "Download the file" in caught.value.remedy


def test_a_copy_is_made_of_a_file_that_is_read_whole_anyhow() -> None:
    with serving(DATA) as served, local_copy(Address(served.url)) as path:
        assert path.read_bytes() == DATA


def test_a_copy_that_was_cut_short_is_made_anew() -> None:
    cuts = [DATA[:1000]]

    with serving(DATA, ranges=False, length=False, lie=lambda _, data: data) as served:
        transfer = open_transfer(Address(served.url))
        try:
            served.length = True
            served.lie = lambda _, data: cuts.pop() if cuts else data
            target = io.BytesIO()
            list(transfer.copy_into(target, 2**20))
            assert target.getvalue() == DATA
            assert not cuts, "control: one was cut short"
        finally:
            transfer.close()
