"""A time stamp of a third party (RFC 3161) over a signature: that it was there by then, whatever our clock says."""

from __future__ import annotations

import hashlib
import urllib.error
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import Any

from counterfoil.base.bounded import within
from counterfoil.remote.reasons import reason_of
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.inputs import read_input
from counterfoil_core.remote.address import Address, hush

SECONDS = 30.0
"""How long an answer may take, the whole of it."""
MAX_RESPONSE = 2**20
MAX_CERTIFICATE = 2**20


def ask_server(url: str, query: bytes) -> bytes:
    """Send a query to a time-stamping authority, and return at most :data:`MAX_RESPONSE` bytes of its answer.

    Raises:
        DataError: It is no address, or no answer came in :data:`SECONDS`.
    """
    try:
        if not url.startswith(("http://", "https://")):
            raise ValueError
        shown = Address(url).shown
    except ValueError as error:
        raise DataError(
            f"{hush(url)!r} is no address of a time-stamping server.", remedy="Give one with http or https."
        ) from error
    asked = urllib.request.Request(url, query, {"Content-Type": "application/timestamp-query"})
    try:
        return within(SECONDS, lambda: _answer(asked))
    except (OSError, ValueError, HTTPException) as error:
        raise DataError(
            f"The time-stamping server {shown} gives no time stamp: {_why(error)}.",
            remedy="Try again, ask another server, or leave --timestamp out.",
            detail=repr(error),
        ) from error


def request_timestamp(
    url: str, signature: bytes, authority: Path | None, ask: Callable[[str, bytes], bytes] = ask_server
) -> bytes:
    """Ask a time-stamping authority to stamp a signature.

    Args:
        url: Where it answers, over http or https.
        signature: What is stamped; only its SHA-512 is sent.
        authority: The authority's certificate, PEM, that must have signed the answer; None takes any, whose time
            stamp whoever reads it must check.
        ask: Sends a query to the server, and returns its answer.

    Returns:
        The response, DER.

    Raises:
        DataError: The library is not installed, the server does not answer, or with something else than was asked.
    """
    try:
        from rfc3161_client import TimestampRequestBuilder, VerifierBuilder, decode_timestamp_response
    except ImportError as error:
        raise DataError(
            "A time stamp needs the package rfc3161-client.", remedy="Install it: pip install 'counterfoil[formats]'."
        ) from error
    request = TimestampRequestBuilder().data(signature).nonce(nonce=True).build()
    data = ask(url, request.as_bytes())
    try:
        response = decode_timestamp_response(data)
        info = response.tst_info
        if response.status != 0:
            raise ValueError(f"the status is {response.status}")
        if info.message_imprint.message != hashlib.sha512(signature).digest() or info.nonce != request.nonce:
            raise ValueError("it stamps something else")
        if authority is not None:
            from cryptography.x509 import load_pem_x509_certificate

            pem = read_input(authority, "a certificate", DataError, most=MAX_CERTIFICATE)
            root = load_pem_x509_certificate(pem)
            VerifierBuilder().add_root_certificate(root).build().verify_message(response, signature)
    except DataError:
        raise
    except Exception as error:  # the library raises errors of several kinds
        raise DataError(
            f"The answer of {Address(url).shown} is no time stamp of this signature: {error}.",
            remedy="Ask another server.",
        ) from error
    return data


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Another server is not the one that the user named, and is asked nothing."""

    def redirect_request(self, *_arguments: Any) -> None:
        return None


def _answer(asked: urllib.request.Request) -> bytes:
    with urllib.request.build_opener(_NoRedirect).open(asked, timeout=SECONDS) as answer:
        data: bytes = answer.read(MAX_RESPONSE)
    return data


def _why(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        elsewhere = ", and leads elsewhere, which is not followed" if 300 <= error.code < 400 else ""
        return f"it answers with the status {error.code}{elsewhere}"
    if isinstance(error, TimeoutError):
        return f"it did not answer within {SECONDS:.0f} seconds"
    return "its answer is none of HTTP" if isinstance(error, ValueError | HTTPException) else reason_of(error)
