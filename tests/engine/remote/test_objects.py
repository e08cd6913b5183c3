"""Stores of objects: one in memory, and S3's own library before a server of this machine."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from counterfoil.remote.files import local_copy, open_transfer
from counterfoil.remote.objects import StoredFile
from counterfoil.remote.transfer import Patience
from counterfoil_core.base.errors import FileChangedError, FileReadError, GivenFileError
from counterfoil_core.remote.address import Address
from support.servers import serving

DATA = bytes(range(256)) * 400
ADDRESS = Address("memory://bucket/run.cfoil")


@pytest.fixture
def store() -> Iterator[MemoryFileSystem]:
    files = MemoryFileSystem(skip_instance_cache=True)
    files.pipe("/bucket/run.cfoil", DATA)
    yield files
    files.store.clear()


def stored(store: MemoryFileSystem, patience: Patience) -> StoredFile:
    file = StoredFile(store, ADDRESS, patience, None)
    file.open()
    return file


def test_pieces_of_an_object_are_those_that_were_asked_for(store, little_patience) -> None:
    file = stored(store, little_patience)
    spans = [(0, 10), (1000, 5), (len(DATA) - 7, 7)]
    assert file.size == len(DATA)
    assert file.fetch(spans) == [DATA[start : start + count] for start, count in spans]
    assert (file.fetched.bytes, file.fetched.requests) == (22, 3)
    file.check_unchanged()


def test_an_object_that_was_replaced_is_noticed(store, little_patience) -> None:
    file = stored(store, little_patience)
    store.pipe("/bucket/run.cfoil", DATA[::-1])
    with pytest.raises(FileChangedError, match="another length, time or tag"):
        file.check_unchanged()


def test_an_object_that_is_shorter_now_gives_no_piece(store, little_patience) -> None:
    file = stored(store, little_patience)
    store.pipe("/bucket/run.cfoil", DATA[:100])
    with pytest.raises(FileReadError, match="another piece"):
        file.fetch([(90, 20)])


def test_an_object_that_is_not_there_is_the_users_slip(store, little_patience) -> None:
    store.rm("/bucket/run.cfoil")
    with pytest.raises(GivenFileError, match="There is no file memory://bucket"):
        stored(store, little_patience)


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("s3fs")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "nobody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "nothing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)


def test_an_object_of_s3_is_read_in_pieces(s3, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(DATA) as served:
        monkeypatch.setenv("AWS_ENDPOINT_URL", served.url.removesuffix("/bucket/run.cfoil"))
        file = open_transfer(Address("s3://bucket/run.cfoil"))
        assert file.size == len(DATA)
        assert file.fetch([(5, 10), (2000, 3)]) == [DATA[5:15], DATA[2000:2003]]
        assert sorted(served.pieces) == [(5, 10), (2000, 3)]
        assert served.sent == 13
        with local_copy(Address("s3://bucket/run.cfoil")) as path:
            assert path.read_bytes() == DATA
        served.tag = '"two"'
        with pytest.raises(FileChangedError):
            file.check_unchanged()


@pytest.mark.parametrize(
    ("url", "library"), [("s3://bucket/run.cfoil", "s3fs"), ("https://a.org/run.cfoil", "aiohttp")]
)
def test_a_library_that_is_missing_is_named_with_how_to_get_it(
    url: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = builtins.__import__

    def without(name, *arguments, **named):
        if name.partition(".")[0] == library:
            raise ModuleNotFoundError(f"No module named {library!r}", name=library)
        return plain(name, *arguments, **named)

    monkeypatch.delitem(sys.modules, "counterfoil.remote.http", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(GivenFileError, match=f"needs libraries that are not installed: .*{library}") as caught:
        open_transfer(Address(url))
    assert caught.value.remedy == "Install them: pip install 'counterfoil[remote]'."
