"""A file in a store of objects, such as S3, by the file system that fsspec has for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

from fsspec.asyn import AsyncFileSystem, get_loop
from fsspec.spec import AbstractFileSystem

from counterfoil.remote.reasons import reason_of
from counterfoil.remote.transfer import PIECE_BYTES, Patience, Transfer, TroubleError
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CounterfoilError, GivenFileError
from counterfoil_core.base.sentence import say
from counterfoil_core.remote.address import Address, hush

_MARKS = ("ETag", "LastModified", "VersionId", "created")
"""What a store says of an object that is another one when the object is."""


class StoredFile(Transfer):
    """An object of a store; as :class:`Transfer`.

    Args:
        files: The store.
        address: Where it lies.
        patience: How long it is waited for.
        cancel: Stops what is waited for.
    """

    def __init__(
        self, files: AbstractFileSystem, address: Address, patience: Patience, cancel: CancelToken | None
    ) -> None:
        super().__init__(address, get_loop(), patience, cancel)
        self._files = files
        self._path = files._strip_protocol(address.url)
        self._marks: dict[str, str] = {}

    def close(self) -> None:
        """Leave the connections to fsspec, which closes them with the store."""

    async def _open(self) -> None:
        self.size, self._marks = await self._info()

    async def _look_again(self) -> None:
        size, marks = await self._info()
        if (size, marks) != (self.size, self._marks):
            raise self.changed(say("the store gives it another length, time or tag"))

    async def _get(self, start: int, count: int) -> bytes:
        data = await self._do("cat_file", self._path, start=start, end=start + count)
        if type(data) is not bytes or len(data) != count:
            raise TroubleError(say("it gives another piece of the file than the one that was asked for"))
        return data

    async def _whole(self, most: int) -> AsyncIterator[bytes]:
        if self.size > most:
            raise GivenFileError(
                say("{0} has more than {1} bytes, which is the most that is read whole.", self.address.shown, most),
                remedy=say("Download the file, and give the path of the copy."),
            )
        for start in range(0, self.size, PIECE_BYTES):
            yield await self._get(start, min(PIECE_BYTES, self.size - start))

    async def _info(self) -> tuple[int, dict[str, str]]:
        with suppress(AttributeError):  # not every store keeps listings
            self._files.invalidate_cache()
        info = await self._do("info", self._path)
        size = info.get("size")
        if info.get("type") != "file" or type(size) is not int or size < 0:
            raise GivenFileError(say("{0} is no file.", self.address.shown))
        return size, {name: str(info[name]) for name in _MARKS if info.get(name) is not None}

    async def _do(self, name: str, *arguments: Any, **named: Any) -> Any:
        """Call a function of the store, in the loop if it can and in a thread if not."""
        try:
            if isinstance(self._files, AsyncFileSystem):
                return await getattr(self._files, f"_{name}")(*arguments, **named)
            function: Callable[..., Any] = getattr(self._files, name)
            return await asyncio.to_thread(function, *arguments, **named)
        except FileNotFoundError as error:
            raise GivenFileError(say("There is no file {0}.", self.address.shown)) from error
        except PermissionError as error:
            raise GivenFileError(
                say("The store does not let {0} be read: {1}.", self.address.shown, hush(str(error))),
                remedy=say("Set your credentials for the store, as its own tools take them."),
            ) from error
        except (CounterfoilError, TimeoutError):
            raise
        except Exception as error:  # each store's library has errors of its own
            raise TroubleError(hush(str(error)) or reason_of(error)) from error
