"""Reads rules from a file, and a run and verdicts for them."""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from counterfoil.audit.runfacts import facts_in, open_inspected_run
from counterfoil.audit.values.runrules import GivenVerdict, Range, RuleSubject, RunRules
from counterfoil.trust.verdictfile import Judgement
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import GivenFileError, SignatureError
from counterfoil_core.base.fields import Fields
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.strictfile import OnProgress
from counterfoil_core.commit.state import tensor_digest
from counterfoil_core.hearing.inspection import Inspection
from counterfoil_core.signing.keys import PublicKey
from counterfoil_core.statement.judgement import Verdict

MAX_BYTES = 2**20
"""Bytes of a file of rules."""
MAX_LISTED = 10_000
MAX_DOTS = 64
"""Points in a line. tomllib keeps every beginning of a dotted key: one of 30,000 parts takes 3.5 GB and 30 s."""
_WHAT = say("file of rules")
_TABLES = ("compute", "data", "hyperparameters", "precision", "performance", "verdict")


def read_rules(path: Path) -> tuple[RunRules, Digest]:
    """Read rules, strictly: what is not known is refused.

    Args:
        path: A TOML file, as docs/rules.md describes it.

    Returns:
        The rules, and the SHA-256 of the file.

    Raises:
        GivenFileError: It is no such file, or asks for nothing: a run that keeps no rule would pass as one that does.
    """
    data = read_input(path, say("a file of rules"), GivenFileError, most=MAX_BYTES)
    try:
        if any(line.count(b".") > MAX_DOTS for line in data.splitlines()):
            raise ValueError("a line with too many points")
        found = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # a number of too many digits is a plain ValueError
        raise GivenFileError(
            say("{0} is no TOML file.", path.name), remedy=say("docs/rules.md shows one."), detail=str(error)
        ) from error
    rules = _rules(found)
    if replace(rules, title="", replayed=RunRules.replayed) == RunRules():
        raise GivenFileError(
            say("{0} asks for nothing: there is no rule in it.", path.name),
            remedy=say("Write a rule, such as steps = [1, 1000] under [hyperparameters]: docs/rules.md lists them."),
        )
    return rules, Digest.of(data)


def _rules(found: dict[str, Any]) -> RunRules:
    top = Fields(found, _WHAT, GivenFileError)
    title = top.text("title", 400) if top.has("title") else ""
    given = {name: top.take(name, dict) for name in _TABLES if top.has(name)}
    top.end()
    for name, table in given.items():
        _check_asks(name, table)
    tables = {name: Fields(given.get(name, {}), _WHAT, GivenFileError) for name in _TABLES}
    compute, data, hyper = tables["compute"], tables["data"], tables["hyperparameters"]
    precision, performance, verdict = tables["precision"], tables["performance"], tables["verdict"]
    scalars = hyper.take("scalars", dict) if hyper.has("scalars") else {}
    named = Fields(scalars, _WHAT, GivenFileError)
    scores = performance.take("score", dict) if performance.has("score") else {}
    scored = Fields(scores, _WHAT, GivenFileError)
    rules = RunRules(
        title=title,
        operations=_range(compute, "operations"),
        parameters=_range(compute, "parameters"),
        must=_digests(data, "must"),
        must_not=_forbidden(data),
        epochs=_number(data.take("epochs", int, float), "epochs") if data.has("epochs") else None,
        steps=_range(hyper, "steps"),
        batch_size=_range(hyper, "batch_size"),
        scalars={name: span for name in scalars if (span := _range(named, name)) is not None},
        programs=_digests(hyper, "programs"),
        compute=tuple(_texts(precision, "compute")),
        exact=precision.take("exact", bool) if precision.has("exact") else None,
        final_loss=_range(performance, "final_loss"),
        score={name: span for name in scores if (span := _range(scored, name)) is not None},
        auditors=tuple(digest.hex for digest in _digests(verdict, "auditors")),
        replayed=_number(verdict.take("replayed", int, float), "replayed") if verdict.has("replayed") else 1.0,
    )
    for table in tables.values():
        table.end()
    return rules


def _check_asks(name: str, table: dict[str, Any]) -> None:
    """Refuse what is written and asks for nothing, since every run would keep it; raises GivenFileError."""
    empty = [f"{name}.{rule}" for rule, value in table.items() if value in ([], {})] if table else [name]
    if name == "verdict" and "auditors" not in table:
        empty = ["verdict.auditors"]
    if empty:
        raise GivenFileError(
            say("The rule {0} asks for nothing: every run would keep it.", repr(empty[0])),
            remedy=say("Leave it out, or write what it asks for: docs/rules.md lists the rules."),
        )


def _forbidden(data: Fields) -> dict[str, tuple[Digest, ...]]:
    names = data.take("must_not", dict) if data.has("must_not") else {}
    _check_asks("data.must_not", names or {"": ""})
    listed = Fields(names, _WHAT, GivenFileError)
    return {name: _digests(listed, name) for name in names}


def _range(fields: Fields, name: str) -> Range | None:
    if not fields.has(name):
        return None
    given = fields.take(name, list)
    if len(given) != 2 or _number(given[0], name) > _number(given[1], name):
        raise GivenFileError(
            say("The rule {0} is no range.", repr(name)), remedy=say("Give the least and the most: [0, 1e25].")
        )
    return (_number(given[0], name), _number(given[1], name))


def _number(value: Any, name: str) -> float:
    number = math.nan
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        with suppress(OverflowError):  # of more digits than a float has room for
            number = float(value)
    if math.isnan(number):
        raise GivenFileError(say("The rule {0} has a number that is none.", repr(name)))
    return number


def _texts(fields: Fields, name: str) -> list[str]:
    given = fields.take(name, list) if fields.has(name) else []
    if len(given) > MAX_LISTED or not all(isinstance(text, str) for text in given):
        raise GivenFileError(say("The rule {0} is no list of texts.", repr(name)))
    return list(given)


def _digests(fields: Fields, name: str) -> tuple[Digest, ...]:
    return tuple(fields.as_digest(text, say("digest of the rule {0}", repr(name))) for text in _texts(fields, name))


def subject_of(
    path: str | os.PathLike[str],
    verdicts: Iterable[GivenVerdict] = (),
    *,
    names: Iterable[str] = (),
    trainer_key: PublicKey | None = None,
    cancel: CancelToken | None = None,
    progress: OnProgress | None = None,
) -> RuleSubject:
    """Read a run as rules see it; everything is of the bytes that were compared with what the trainer signed.

    Args:
        path: The run.
        verdicts: Verdicts on it, by :func:`given_verdict`.
        names: Names under which its data arrays are digested anew, those of :attr:`RunRules.must_not`.
        trainer_key: The key that must have signed it; that which it names unless given.
        cancel: Looked at while long files are read.
        progress: Called with the steps that were compared, and their total.

    Raises:
        GivenFileError: The file is an order that nobody has run yet.
        RefusedError: A check fails.
        CancelledError: ``cancel`` was set.
    """
    with open_inspected_run(path, trainer_key=trainer_key, cancel=cancel, progress=progress) as inspection:
        return subject_in(inspection, verdicts, names, cancel)


def subject_in(
    inspection: Inspection,
    verdicts: Iterable[GivenVerdict] = (),
    names: Iterable[str] = (),
    cancel: CancelToken | None = None,
) -> RuleSubject:
    """Read a run whose checks were made as rules see it; the others as for :func:`subject_of`."""
    reader = inspection.reader
    facts, manifest = facts_in(inspection), reader.manifest
    scalars = reader.scalars()[: facts.steps]
    spans = {
        name: (float(np.min(scalars[:, column])), float(np.max(scalars[:, column])))
        for column, name in enumerate(manifest.scalar_names)
        if len(scalars)
    }
    loss = inspection.records[-1].loss if inspection.records else None
    renamed: dict[str, dict[str, Digest]] = {name: {} for name in names}
    for own, spec in manifest.data.items() if renamed else ():
        if spec.file is None:
            array = reader.data(own, cancel)
            for name in renamed:
                renamed[name][own] = tensor_digest(name, array)
    return RuleSubject(facts, manifest.data_root, spans, loss, tuple(verdicts), renamed)


def given_verdict(judged: Judgement) -> GivenVerdict:
    """Return what rules see of a verdict; raises SignatureError where it is an adjudication."""
    signed = judged.said
    if not isinstance(signed, Verdict):
        raise SignatureError(say("It is an adjudication, and no verdict."))
    share = signed.steps_replayed / signed.steps_recorded if signed.steps_recorded else 0.0
    ends = signed.sample is not None and signed.sample.reaches_end
    return GivenVerdict(
        signed.key_id, signed.about, signed.outcome.value, share,
        reaches_end=ends, withdrawn=not judged.validity.counts,
    )  # fmt: skip
