"""A time stamp of a third party (RFC 3161) over a signature: that it was there by then, whatever our clock says."""

from __future__ import annotations

import hashlib
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from counterfoil_core.base.errors import DataError
from counterfoil_core.base.inputs import read_input

SECONDS = 30
MAX_RESPONSE = 2**20
MAX_CERTIFICATE = 2**20


def ask_server(url: str, query: bytes) -> bytes:
    """Send a query to a time-stamping server; returns its answer, of which nothing is checked.

    Raises:
        DataError: It is no address of one, or does not answer.
    """
    if not url.startswith(("http://", "https://")):
        raise DataError(f"{url!r} is no address of a time-stamping server.", remedy="Give one with http or https.")
    asked = urllib.request.Request(url, query, {"Content-Type": "application/timestamp-query"})
    try:
        with urllib.request.urlopen(asked, timeout=SECONDS) as answer:
            data: bytes = answer.read(MAX_RESPONSE)
    except (urllib.error.URLError, OSError, ValueError) as error:
        raise DataError(
            f"The time-stamping server {url} does not answer: {error}.", remedy="Try again, or leave --timestamp out."
        ) from error
    return data


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
            f"The answer of {url} is no time stamp of this signature: {error}.", remedy="Ask another server."
        ) from error
    return data
