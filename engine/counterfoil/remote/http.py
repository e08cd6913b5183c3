"""A file on a web server, by the connection that fsspec makes, and strictly: each answer is the piece asked for."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import fsspec
from fsspec.implementations.http import HTTPFileSystem
from yarl import URL

from counterfoil.remote.reasons import reason_of
from counterfoil.remote.transfer import Patience, Transfer, TroubleError
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import GivenFileError
from counterfoil_core.base.sentence import say
from counterfoil_core.remote.address import Address

_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})")
_NOTHING = re.compile(r"bytes \*/(\d{1,18})")
_MARKS = ("ETag", "Last-Modified")
"""What a server may say of a file that is another one when the file is."""
_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_REDIRECTS = 6


class WebFile(Transfer):
    """A file on a web server; as :class:`Transfer`."""

    def __init__(self, address: Address, patience: Patience, cancel: CancelToken | None) -> None:
        # A proxy of the environment is used; the user's settings of fsspec, such as headers, count beside that.
        settings = fsspec.config.conf.get(address.scheme, {}).get("client_kwargs", {})
        self._files = HTTPFileSystem(
            skip_instance_cache=True,
            client_kwargs={"trust_env": True, "auto_decompress": False, **settings},
        )
        super().__init__(address, self._files.loop, patience, cancel)
        self._marks: dict[str, str] = {}

    def close(self) -> None:
        """Give up the connection."""
        session = self._files._session
        if session is not None:
            HTTPFileSystem.close_session(self._loop, session)

    async def _open(self) -> None:
        async with self._asked("bytes=0-0") as answer:
            self.has_ranges = answer.status != 200
            if not self.has_ranges:
                self.size = answer.content_length or 0
            else:
                self.size = self._size_of(answer)
            self._marks = _marks_of(answer.headers)

    async def _look_again(self) -> None:
        async with self._asked("bytes=0-0") as answer:
            self._compare(answer)

    async def _get(self, start: int, count: int) -> bytes:
        async with self._asked(f"bytes={start}-{start + count - 1}") as answer:
            self._compare(answer)
            said = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
            if said is None or (int(said[1]), int(said[2])) != (start, start + count - 1):
                raise TroubleError(say("it gives another piece of the file than the one that was asked for"))
            try:
                data = await answer.content.readexactly(count)
                more = await answer.content.read(1)
            except asyncio.IncompleteReadError as error:
                raise TroubleError(say("the connection ended in the middle of a piece")) from error
            if more:
                raise TroubleError(say("it gives more of the file than was asked for"))
            return data

    async def _whole(self, most: int) -> AsyncIterator[bytes]:
        async with self._asked(None) as answer:
            length, done = answer.content_length, 0
            if length is not None and length > most:
                raise self._too_large(most)
            async for piece in answer.content.iter_any():
                done += len(piece)
                if done > most:
                    raise self._too_large(most)
                yield piece
            if length not in (None, done):
                raise TroubleError(say("the connection ended in the middle of the file"))

    @asynccontextmanager
    async def _asked(self, piece: str | None) -> AsyncIterator[aiohttp.ClientResponse]:
        """Ask for a piece of the file, or for all of it; raises TroubleError and GivenFileError."""
        settings: dict[str, Any] = dict(self._files.kwargs)
        headers = {**settings.pop("headers", {}), "Accept-Encoding": "identity"}
        if piece is not None:
            headers["Range"] = piece
        silence = self._patience.silence
        limits = aiohttp.ClientTimeout(total=None, sock_connect=silence, sock_read=silence)
        try:
            session = await self._files.set_session()
            url = self._files.encode_url(self.address.url)
            settings["allow_redirects"] = False
            for _ in range(_MOST_REDIRECTS):
                async with session.get(url, headers=headers, timeout=limits, **settings) as answer:
                    if answer.status not in _REDIRECTS:
                        self._check(answer)
                        yield answer
                        return
                    url = self._led_to(answer)
            raise TroubleError(say("it leads from one address to another, and on"))
        except aiohttp.InvalidURL as error:
            raise GivenFileError(say("The address {0} is none.", self.address.shown)) from error
        except TimeoutError:
            raise
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientPayloadError) as error:
            raise TroubleError(say("the connection ended in the middle of its answer")) from error
        except (aiohttp.ClientResponseError, ValueError) as error:
            raise TroubleError(say("its answer is none of HTTP")) from error
        except aiohttp.ClientError as error:
            raise TroubleError(reason_of(error)) from error

    def _led_to(self, answer: aiohttp.ClientResponse) -> URL:
        """Return where a redirect leads on the same server.

        Another server would get the user's headers, which may hold a key, and the verdict names the one that was asked.

        Raises:
            GivenFileError: It leads to another server, or by another scheme.
            TroubleError: It does not say where.
        """
        try:
            led = answer.url.join(URL(answer.headers["Location"]))
            same = led.origin() == answer.url.origin()
        except (KeyError, ValueError) as error:
            raise TroubleError(say("it leads elsewhere, and does not say where")) from error
        if not same:
            raise GivenFileError(
                say("{0} leads to another server: {1}.", self.address.shown, Address(str(led)).shown),
                remedy=say("Give the address that it leads to, if you trust that server, or download the file."),
            )
        return led

    def _check(self, answer: aiohttp.ClientResponse) -> None:
        status = answer.status
        if status in (404, 410):
            raise GivenFileError(say("There is no file {0}.", self.address.shown))
        if status in (401, 403, 407):
            raise GivenFileError(
                say("The server does not let {0} be read: it answers with the status {1}.", self.address.shown, status),
                remedy=say("Give an address that you may read, or set fsspec's headers for it."),
            )
        if status == 416 and _NOTHING.fullmatch(answer.headers.get("Content-Range", "")):
            return  # an empty file, or one that is shorter now
        if status not in (200, 206):
            raise TroubleError(say("it answers with the status {0}", status))
        if answer.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise TroubleError(say("it packs the file, so that pieces of it cannot be told apart"))

    def _size_of(self, answer: aiohttp.ClientResponse) -> int:
        said = answer.headers.get("Content-Range", "")
        piece, nothing = _RANGE.fullmatch(said), _NOTHING.fullmatch(said)
        if piece is None and nothing is None:
            raise TroubleError(say("it does not say how long the file is"))
        return int(piece[3] if piece is not None else nothing[1])  # type: ignore[index]

    def _compare(self, answer: aiohttp.ClientResponse) -> None:
        """Compare what an answer says of the file with what the first one said; raises FileChangedError."""
        if answer.status == 200:
            raise TroubleError(say("it gave pieces of the file before, and gives none now"))
        size = self._size_of(answer)
        if size != self.size:
            raise self.changed(say("it had {0} bytes, and has {1} now", self.size, size))
        for name, now in _marks_of(answer.headers).items():
            if self._marks.get(name, now) != now:
                raise self.changed(say("the server gives it another {0}", name))

    def _too_large(self, most: int) -> GivenFileError:
        return GivenFileError(
            say(
                "The server gives no pieces of {0}, and the file has more than {1} bytes, which is the most that is "
                "read whole.",
                self.address.shown,
                most,
            ),
            remedy=say("Download the file, and give the path of the copy."),
        )


def _marks_of(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: headers[name] for name in _MARKS if name in headers}
