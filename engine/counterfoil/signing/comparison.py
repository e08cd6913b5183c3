"""The comparison of an order with the script that it came from: a statement beside the order. docs/comparison.md.

Whoever has the script runs it, and holds step after step of the order against it. That they agree in the steps that it
names is all that the statement can say: a difference is a refusal, and there is no order then. The order does not hold
it, so that machines of different speed, which compare more steps or fewer, write one order.

It is worth what its signature is worth; without one it is the word of whoever wrote the file.
"""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from msgspec import structs

from counterfoil.base.wholefiles import write_whole
from counterfoil.signing.comparedsteps import FoundComparison, comparison_path
from counterfoil.signing.kinds import Comparison
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CancelledError, CounterfoilError, DataError, SignatureError
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.envelope import wrap_statement
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.kinds import COMPARISON, statement_of
from counterfoil_core.signing.statements import open_said, read_said, sign_said


def write_comparison(
    order: str | os.PathLike[str],
    comparison: Comparison,
    key: SigningKey | None = None,
    *,
    force: bool = False,
    when: datetime | None = None,
) -> Path:
    """Write the comparison of an order beside it, whole or not at all.

    Args:
        order: The order's file.
        comparison: What was compared, and agrees.
        key: The client's key, or an auditor's; None leaves it unsigned, as the file's word.
        force: Whether a file that lies there may be replaced.
        when: The time, with its zone; now unless given.

    Returns:
        Where it lies.

    Raises:
        SignatureError: A field is beyond its bounds, or the steps are none.
        CanonicalError: A name or an argument has no UTF-8 form.
        SignerError: The signer's process does not sign it.
        TargetExistsError, FileWriteError: It cannot be written.
    """
    if key is None:
        envelope = wrap_statement(statement_of(read_said(Comparison, statement_of(comparison))))
    else:
        envelope = sign_said(comparison, key, when)
    path = comparison_path(order)
    write_whole(path, envelope, what=COMPARISON.what, replace=force)
    return path


def comparison_beside(path: str | os.PathLike[str], order: Digest, steps: int) -> FoundComparison | None:
    """Read what lies beside a file as the comparison of its order with the script; None where nothing does.

    What is damaged, or about another order, is said in :attr:`FoundComparison.problem`.

    Args:
        path: The order's file, or a run's.
        order: The digest of the order in it.
        steps: How many steps that has.

    Raises:
        CancelledError: The work was stopped.
    """
    beside = comparison_path(path)
    if not os.path.lexists(beside):
        return None
    try:
        envelope = read_input(beside, say("a comparison with a script"), DataError, most=COMPARISON.most)
        said = open_said(Comparison, envelope)
        if said.order != order:
            raise SignatureError(
                say("It is about another order, {0}..., and this is {1}....", said.order.short, order.short)
            )
        if said.steps != steps:
            raise SignatureError(say("It speaks of {0:,} steps, and the order has {1:,}.", said.steps, steps))
    except CancelledError:
        raise
    except CounterfoilError as error:
        return FoundComparison(beside.name, None, error.sentence)
    return FoundComparison(
        beside.name, structs.replace(said, public_key="", signed_at=""), "", said.key_id, said.signed_at
    )
