"""A folder, or a zip, to hand over when an audit is done: what was signed, and how a stranger checks each file in it.

Pure, and writes files: nothing here checks a signature, so that the window may use it. Whoever calls it has checked the
verdict with the key that goes into the folder. The commands of the README are run by a test.
"""

from __future__ import annotations

import shlex
import shutil
import textwrap
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from counterfoil.base.oneline import one_line
from counterfoil.base.wholefiles import whole_file
from counterfoil.base.wholefolders import whole_folder
from counterfoil_core.base.digest import PIECE_BYTES, Digest
from counterfoil_core.base.errors import DataError, SignatureError
from counterfoil_core.base.inputs import open_input, read_input
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.publickeys import group_digits, is_ed25519, key_id_of, pem_of
from counterfoil_core.statement.judgement import Adjudication, Verdict
from counterfoil_core.values.trust import check_independent

VERDICT, AUDITOR, CAPSULE, README, SUMS = "verdict.json", "auditor.pub.pem", "dispute.cfoil", "README.txt", "SHA256SUMS"
SEALED = f"{CAPSULE}.age"
"""The capsule, sealed for judges."""
PDF, HTML = "report.pdf", "report.html"
"""The names of the reports; others are refused, since the README says what each file is."""
ZIP = ".zip"
"""How the name of a zip ends."""
MOST_BYTES = 2**30
"""Most bytes of a report."""
_WHAT = say("the folder to hand over")
_COLUMN = 18
_WIDTH = 100


@dataclass(frozen=True)
class HandOver:
    """What is handed over."""

    said: Verdict | Adjudication  #: The verdict or the adjudication, whose signature holds for the key.
    envelope: bytes  #: Its file, byte by byte.
    key: str  #: The auditor's public key, 64 hexadecimal digits.
    capsule: Path | None = None  #: The dispute capsule of the same run; None for none.
    #: Reports for people to read, by name: :data:`PDF`, :data:`HTML`.
    reports: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    sealed: bool = False  #: Whether the capsule is sealed for judges.

    @property
    def files(self) -> dict[str, bytes | Path]:
        """What lies in the folder, by name, but for the README and the digests: its bytes, or where it lies now."""
        capsule = {} if self.capsule is None else {SEALED if self.sealed else CAPSULE: self.capsule}
        return {AUDITOR: pem_of(self.key).encode(), **capsule, **self.reports, VERDICT: self.envelope}


def write_hand_over(target: Path, given: HandOver, words: Callable[[str], str] = str) -> tuple[str, ...]:
    """Write the folder, or the zip of it: all of it, or nothing.

    Args:
        target: The folder to make, or a file whose name ends in ``.zip``.
        given: What goes into it.
        words: Says a sentence of ours in the language of the README; English unless given.

    Returns:
        The names of the files in it.

    Raises:
        SignatureError: The key is not the one that signed, or is the trainer's own.
        DataError: A report has another name than those that the README explains.
        TargetExistsError, FileWriteError: It cannot be written.
    """
    _check(given)
    files: dict[str, bytes | Path] = {README: readme(given, words).encode(), **given.files}
    files[SUMS] = "".join(f"{_digest(files[name]).hex} *{name}\n" for name in sorted(files)).encode()
    if target.suffix.lower() == ZIP:
        _write_zip(target, files)
    else:
        with whole_folder(target, what=_WHAT) as folder:
            for name, content in files.items():
                with whole_file(folder / name, what=_WHAT) as file:
                    _copy(content, file)
    return tuple(sorted(files))


def read_reports(paths: Iterator[Path] | tuple[Path, ...]) -> dict[str, bytes]:
    """Read reports by the endings of their names; raises DataError for one that is neither PDF nor HTML, or two."""
    found: dict[str, bytes] = {}
    for path in paths:
        name = {Path(each).suffix: each for each in (PDF, HTML)}.get(path.suffix.lower())
        if name is None or name in found:
            raise DataError(
                say("{0} is no report to hand over: one PDF and one HTML file can go into the folder.", path.name)
            )
        found[name] = read_input(path, say("a report"), DataError, most=MOST_BYTES)
    return found


def _check(given: HandOver) -> None:
    if key_id_of(given.key) != given.said.key_id:
        raise SignatureError(say("The key to hand over is not the one that signed the verdict."))
    check_independent(given.said.key_id, given.said.trainer_key, given.said.parties)
    if not given.reports.keys() <= {PDF, HTML}:
        raise DataError(say("A report to hand over is called {0} or {1}.", PDF, HTML))


def _digest(content: bytes | Path) -> Digest:
    return Digest.of(content) if isinstance(content, bytes) else Digest.of_file(content)


def _copy(content: bytes | Path, file: IO[bytes]) -> None:
    """Write what is there as bytes, or lies in a file, which may be as large as a state."""
    if isinstance(content, bytes):
        file.write(content)
        return
    with open_input(content, say("a capsule"), DataError) as source:
        shutil.copyfileobj(source, file, PIECE_BYTES)


def _write_zip(target: Path, files: Mapping[str, bytes | Path]) -> None:
    """A zip of one folder, which has the zip's own name; the times in it say nothing."""
    with (
        whole_file(target, what=_WHAT, replace=False) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(f"{target.stem}/{name}")
            entry.compress_type = zipfile.ZIP_DEFLATED
            with packed.open(entry, "w", force_zip64=True) as part:
                _copy(content, part)


# The README


def readme(given: HandOver, words: Callable[[str], str] = str) -> str:
    """Return what a stranger needs to check each file; its commands, which are indented, are for a POSIX shell."""
    parts = [_about(given, words), _files(given, words), _key(given, words), _with_openssl(given, words)]
    return "\n\n".join([*parts, _with_counterfoil(given, words), _beyond(given, words)]) + "\n"


def commands(text: str) -> tuple[str, ...]:
    """Return the commands of a README, in their order."""
    return tuple(line.strip() for line in text.splitlines() if line.startswith("    "))


def _headed(title: str, *lines: str, rule: str = "-") -> str:
    """A heading and its lines, wrapped; commands and what is indented stay as they are."""
    wrapped = (line if line.startswith("  ") else textwrap.fill(line, _WIDTH) for line in lines if line)
    return "\n".join([title, rule * len(title), *wrapped])


def _about(given: HandOver, words: Callable[[str], str]) -> str:
    said = given.said
    title = words(say("{0}: what an auditor found", "Counterfoil"))
    outcome = said.headline if isinstance(said, Verdict) else said.outcome.value
    return _headed(
        title,
        f"{outcome}. {words(said.reason)}",
        words(say("Job: {0}", one_line(said.title))),
        words(say("File that was judged: {0}", one_line(said.bundle_name))),
        words(say("Signed at {0} with the key {1}", said.signed_at, said.key_id)),
        rule="=",
    )


def _files(given: HandOver, words: Callable[[str], str]) -> str:
    meant = {
        VERDICT: say("what counts: the auditor's signed statement"),
        AUDITOR: say("the public key that checks it"),
        CAPSULE: say("the disputed step with its proofs: anybody can replay it"),
        SEALED: say("the same, sealed: named judges can open it, and nobody else"),
        PDF: say("for reading and for printing; not signed, it names the SHA-256 of {0}", VERDICT),
        HTML: say("the same report for a browser; not signed either"),
        README: say("this page"),
        SUMS: say("the SHA-256 of each file: shows damage on the way, and nothing about who made it"),
    }
    there = {**given.files, README: b"", SUMS: b""}
    return _headed(words(say("Files")), *(f"  {name:{_COLUMN}}{words(meant[name])}" for name in meant if name in there))


_KEY_ID = (
    'printf \'{"keytype":"ed25519","keyval":{"public":"%s"},"scheme":"ed25519"}\' '
    f"\"$(openssl pkey -pubin -in {AUDITOR} -outform DER | tail -c 32 | od -An -v -tx1 | tr -d ' \\n')\" "
    "| openssl dgst -sha256 -r"
)
_P256_KEY_ID = (
    'printf \'{"keytype":"ecdsa","keyval":{"public":"%s\\n"},"scheme":"ecdsa-sha2-nistp256"}\' '
    f'"$(openssl pkey -pubin -in {AUDITOR})" | openssl dgst -sha256 -r'
)


def _key(given: HandOver, words: Callable[[str], str]) -> str:
    return _headed(
        words(say("Whose key is it?")),
        words(
            say(
                "Whoever wrote this folder could have put a key of their own into it. Ask the auditor for the id of "
                "the key, by another way than the one on which this came. It must be:"
            )
        ),
        f"  {group_digits(given.said.key_id)}",
        words(say("This command prints the id of the key in the folder:")),
        f"    {_KEY_ID if is_ed25519(given.key) else _P256_KEY_ID}",
    )


def _with_openssl(given: HandOver, words: Callable[[str], str]) -> str:
    said = given.said
    named = " ".join(sorted([*given.files, README]))
    html = (
        words(say("{0} must name the SHA-256 of {1} under its heading on the signature:", HTML, VERDICT)),
        f'    grep -q "$(openssl dgst -sha256 -r {VERDICT} | cut -c 1-64)" {HTML}',
    )
    digest = said.bundle_digest
    file = say("If you have the file that was judged: its SHA-256 must be {0}.", digest.hex) if digest else ""
    return _headed(
        words(say("Check it with OpenSSL alone")),
        words(say("In this folder, in a POSIX shell, with OpenSSL 3.0 or later. Nothing came to harm on the way:")),
        f"    openssl dgst -sha256 -r {named} | cmp - {SUMS}",
        words(say("Take statement and signature out of the verdict, and build the bytes that were signed (DSSE):")),
        f'    sed -n \'s/.*"payload":"\\([^"]*\\)".*/\\1/p\' {VERDICT} | openssl base64 -d -A > payload.json',
        f'    sed -n \'s/.*"sig":"\\([^"]*\\)".*/\\1/p\' {VERDICT} | openssl base64 -d -A > signature.bin',
        "    printf 'DSSEv1 28 application/vnd.in-toto+json %d ' \"$(wc -c < payload.json)\" > signed.bin",
        "    cat payload.json >> signed.bin",
        words(say("Check the signature; OpenSSL says 'Signature Verified Successfully':")),
        f"    openssl pkeyutl -verify -pubin -inkey {AUDITOR} -rawin -in signed.bin -sigfile signature.bin",
        words(say("The signed statement says, among the rest, what was found:")),
        f'    grep -q \'"result":"{said.outcome.value}"\' payload.json',
        *(html if HTML in given.reports else ()),
        words(say("{0} names the same SHA-256; compare it by eye.", PDF)) if PDF in given.reports else "",
        words(file) if file else "",
        *([f"  openssl dgst -sha256 {shlex.quote(one_line(said.bundle_name))}"] if file else ()),
    )


def _with_counterfoil(given: HandOver, words: Callable[[str], str]) -> str:
    said = given.said
    lines = [
        words(
            say(
                "Its signature, its form and that it does not contradict itself; the exit code is {0}, as the outcome "
                "has it:",
                said.outcome.exit_code,
            )
        ),
        f"    counterfoil verify {VERDICT} --key {AUDITOR}",
        words(say("Add the name of your file to see that it is about that.")),
    ]
    if given.capsule is not None:
        lines += [
            words(
                say(
                    "Replay the disputed step on your own machine. The capsule needs no trust in the auditor: all of "
                    "it is bound to the order and to what the trainer signed. Exit code 1 and CONFIRMED: the auditor "
                    "is right; 0 and REJECTED: the trainer is."
                )
            ),
            *_adjudicate(given, words),
            words(say("Add --order FILE with the client's own order, and --trainer-key FILE with the trainer's key.")),
        ]
    return _headed(words(say("Check it with Counterfoil")), *lines)


def _adjudicate(given: HandOver, words: Callable[[str], str]) -> tuple[str, ...]:
    """How the capsule is replayed."""
    if not given.sealed:
        return (f"    counterfoil adjudicate {CAPSULE}",)
    return (
        words(
            say(
                "The capsule is sealed for judges (age-encryption.org/v1). One of them opens it with the private key, "
                "here judge.key:"
            )
        ),
        f"    counterfoil adjudicate {SEALED} --identity judge.key",
        words(say("The program age opens it too, into a file that anybody can read:")),
        f"    age --decrypt -i judge.key -o {CAPSULE} {SEALED}",
    )


def _beyond(given: HandOver, words: Callable[[str], str]) -> str:
    return _headed(
        words(say("What this does not say")),
        words(
            say(
                "An auditor can take a verdict back, and a trainer can reply to one: ask both whether there is more. "
                "How far a verdict goes is written in docs/threat-model.md of Counterfoil, and every field of it in "
                "docs/verdict.md."
            )
        ),
    )
