"""Counts what a run shows, and checks rules on it, for whoever watches: each yields how far it is."""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Iterable
from pathlib import Path

from msgspec import to_builtins

from counterfoil.audit.runfacts import checks_of, facts_in
from counterfoil.audit.runrules import given_verdict, read_rules, subject_in
from counterfoil.audit.values.runrules import CheckedRules, GivenVerdict, check_rules
from counterfoil.trust.store import NO_TRUST, TrustStore
from counterfoil.trust.verdictfile import auditors_of, read_judgement
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.base.sentence import say
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.hearing.inspection import Inspection
from counterfoil_core.parties.signatures import Keys
from counterfoil_core.statement.factfields import fields_of
from counterfoil_core.values.runfacts import FactsProgress, RunFacts

_PARTS = (
    say("Reading what the run says of itself"),
    say("Comparing program, schedule and data with the order digest"),
    say("Comparing the recorded steps with the signed run root"),
)
_COUNTING = say("Counting")


def count_facts(
    run: str | os.PathLike[str],
    *,
    order: str | os.PathLike[str] | None = None,
    cancel: CancelToken | None = None,
) -> Generator[FactsProgress, None, RunFacts]:
    """Count what a run shows, as :func:`counterfoil.audit.runfacts.facts_of` does; yields how far it is.

    Args:
        run: The run.
        order: The client's own order file, which the run must be of, if it is given.
        cancel: Looked at while long files are read.

    Raises:
        GivenFileError: The file is an order that nobody has run yet, or ``order`` is none.
        BundleError: The file is no bundle.
        RefusedError: A check fails.
        CancelledError: ``cancel`` was set.
    """
    with obstacles_noticed(), BundleReader.open(run) as reader:
        inspection = Inspection(reader, with_states=False)
        yield from _checks(inspection, order, cancel)
        return facts_in(inspection)


def check_run(
    run: str | os.PathLike[str],
    rules: Path,
    verdicts: Iterable[Path] = (),
    store: TrustStore = NO_TRUST,
    *,
    order: str | os.PathLike[str] | None = None,
    cancel: CancelToken | None = None,
) -> Generator[FactsProgress, None, CheckedRules]:
    """Check rules on a run, as ``counterfoil rules`` does; yields how far it is.

    Args:
        run: The run.
        rules: The file of rules.
        verdicts: Verdicts on it. One that its auditor withdrew in a statement beside it does not count.
        store: What the reader trusts: the keys of auditors, and what no longer counts; nothing unless given.
        order: As for :func:`count_facts`.
        cancel: As for :func:`count_facts`.

    Raises:
        GivenFileError: ``rules`` is no file of rules; or as for :func:`count_facts`.
        SignatureError: A verdict is signed with none of the keys, or is none.
        BundleError: The file is no bundle.
        RefusedError: A check fails.
        CancelledError: ``cancel`` was set.
    """
    asked, digest = read_rules(rules)
    given = [_given(path, store) for path in verdicts]
    with obstacles_noticed(), BundleReader.open(run) as reader:
        inspection = Inspection(reader, with_states=False)
        yield from _checks(inspection, order, cancel)
        subject = subject_in(inspection, given, asked.must_not, cancel)
    return CheckedRules(asked.title, digest, subject.facts.run_root, check_rules(asked, subject))


def facts_as_json(facts: RunFacts) -> bytes:
    """Return facts as a JSON file in ASCII that nobody signed; its fields are those of a signed statement."""
    return json.dumps(to_builtins(fields_of(facts), enc_hook=str), indent=2, ensure_ascii=True).encode() + b"\n"


def _checks(
    inspection: Inspection, order: str | os.PathLike[str] | None, cancel: CancelToken | None
) -> Generator[FactsProgress, None, None]:
    """Make the checks; each part of them is named before it begins."""
    total = len(_PARTS) + 1
    yield FactsProgress(_PARTS[0], 0, total)
    for done, _ in enumerate(checks_of(inspection, Keys(), order=order, cancel=cancel), start=1):
        if done < len(_PARTS):
            yield FactsProgress(_PARTS[done], done, total)
    if cancel is not None:
        cancel.check()
    yield FactsProgress(_COUNTING, len(_PARTS), total)


def _given(path: Path, store: TrustStore) -> GivenVerdict:
    try:
        return given_verdict(read_judgement(path, store, auditors_of(store)))
    except SignatureError as error:
        raise SignatureError(
            say("The verdict {0} does not count. {1}", path.name, error.sentence),
            remedy=say("Leave it out, or take in the public key of its auditor."),
        ) from error
