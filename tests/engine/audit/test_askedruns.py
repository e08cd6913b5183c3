"""Facts and rules for whoever watches: the same as the commands say, told in parts, and stopped."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from counterfoil.audit.askedruns import check_run, count_facts, facts_as_json
from counterfoil.audit.runfacts import facts_of
from counterfoil.audit.runrules import read_rules, subject_of
from counterfoil.audit.values.runrules import check_rules
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, GivenFileError, OrderMismatchError, SignatureError
from counterfoil_core.signing.kinds import json_of
from counterfoil_core.statement.factfields import fields_of
from counterfoil_core.values.runfacts import FactsProgress
from support.jobs import Job
from support.trusted import store_of


def ran(work: Generator[FactsProgress, None, Any]) -> tuple[list[FactsProgress], Any]:
    seen: list[FactsProgress] = []
    while True:
        try:
            seen.append(next(work))
        except StopIteration as end:
            return seen, end.value


def test_facts_are_those_of_the_command_and_come_in_parts(digits_job: Job) -> None:
    seen, facts = ran(count_facts(digits_job.run, order=digits_job.order))
    assert facts == facts_of(digits_job.run)
    assert [(each.done, each.total) for each in seen] == [(done, 4) for done in range(4)]
    assert len({each.what for each in seen}) == 4
    assert json.loads(facts_as_json(facts)) == json_of(fields_of(facts))


def test_rules_come_out_as_the_command_has_them(digits_job: Job, tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text('title = "T"\n[hyperparameters]\nsteps = [0, 1]\nscalars.none = [0, 1]\n')
    rules, digest = read_rules(path)
    seen, checked = ran(check_run(digits_job.run, path))
    assert (checked.title, checked.rules) == ("T", digest)
    assert checked.results == check_rules(rules, subject_of(digits_job.run))
    assert len(seen) == 4


def test_another_order_is_refused(digits_job: Job, calibrated_job: Job) -> None:
    with pytest.raises(OrderMismatchError):
        ran(count_facts(digits_job.run, order=calibrated_job.order))


def test_an_order_that_nobody_has_run_has_none(digits_job: Job) -> None:
    with pytest.raises(GivenFileError, match="nobody has run"):
        ran(count_facts(digits_job.order))


def test_it_is_stopped_between_its_parts(digits_job: Job) -> None:
    token = CancelToken()
    work = count_facts(digits_job.run, cancel=token)
    next(work)
    token.cancel()
    with pytest.raises(CancelledError):
        ran(work)


@pytest.mark.parametrize("content", [b"junk", b"{}", b""])
def test_a_verdict_that_is_none_is_named(digits_job: Job, tmp_path: Path, content: bytes) -> None:
    rules, verdict = tmp_path / "rules.toml", tmp_path / "strange.json"
    rules.write_text("[hyperparameters]\nsteps = [0, 1000]\n")
    verdict.write_bytes(content)
    with pytest.raises(SignatureError, match=r"strange\.json"):
        ran(check_run(digits_job.run, rules, [verdict], store_of(key_from_seed(b"\x01" * 32).public.public)))
