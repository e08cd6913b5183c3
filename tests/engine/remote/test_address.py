from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from counterfoil_core.base.errors import GivenFileError
from counterfoil_core.remote.address import Address, hush, is_address, place_of, shown_place

SECRET = "https://me:secret@example.org:8443/runs/my%20run.cfoil?X-Amz-Signature=abc#part"


def test_a_text_with_a_scheme_is_an_address_and_any_other_a_path() -> None:
    assert place_of("https://example.org/run.cfoil") == Address("https://example.org/run.cfoil")
    assert place_of("s3://bucket/key/run.cfoil") == Address("s3://bucket/key/run.cfoil")
    for path in (
        "run.cfoil",
        "/tmp/run.cfoil",
        "C:\\runs\\run.cfoil",
        "https:/one-slash/run.cfoil",
        "-",
        "a:b",
        "simplecache::https://a/b",
    ):
        assert place_of(path) == Path(path)
        assert not is_address(path)


def test_what_may_be_secret_in_an_address_is_not_shown() -> None:
    address = Address(SECRET)
    assert address.shown == "https://example.org:8443/runs/my%20run.cfoil"
    assert address.name == "my run.cfoil"
    assert shown_place(address) == address.shown
    assert hush(f"Cannot connect to {SECRET}, twice") == (
        "Cannot connect to https://example.org:8443/runs/my%20run.cfoil?..., twice"
    )
    assert shown_place(Path("run.cfoil")) == "run.cfoil"


@pytest.mark.parametrize("text", ["ftp://example.org/run.cfoil", "file:///run.cfoil", "github://a:b@c/run.cfoil"])
def test_addresses_of_other_kinds_are_refused_with_a_remedy(text: str) -> None:
    with pytest.raises(GivenFileError, match="is no address that is read") as caught:
        place_of(text)
    assert "https" in caught.value.remedy


@pytest.mark.parametrize(
    "text",
    [
        "https://example.org", "https://example.org/", "https:///run.cfoil", "https://example.org/%2e%2e",
        "https://example.org/a%2F..", "https://example.org/" + "x" * 300, "https://example.org/a%00b",
    ],
)  # fmt: skip
def test_an_address_that_names_no_file_is_refused(text: str) -> None:
    with pytest.raises(GivenFileError, match="names no file"):
        place_of(text)


def test_a_malformed_address_is_refused_and_its_query_is_not_repeated() -> None:
    with pytest.raises(GivenFileError, match="is no address that is read") as caught:
        place_of("https://[half/run.cfoil?token=secret")
    assert "secret" not in str(caught.value)


@pytest.mark.slow
def test_the_libraries_for_networks_are_not_loaded_before_an_address_is_opened() -> None:
    code = (
        "import sys, counterfoil, counterfoil_core.hearing.session, counterfoil.audit.overview, counterfoil.cli.app\n"
        "import counterfoil_core.bundle.farfile, counterfoil.cli.elsewhere, counterfoil.audit.boxed.work\n"
        "found = {'aiohttp', 's3fs', 'counterfoil.remote.files', 'counterfoil.remote.http'} & set(sys.modules)\n"
        "print(sorted(found))\n"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert said.stdout.strip() == "[]"
