"""Tree heads that a trainer signed, and may have published while training, compared with the run that it delivered."""

from __future__ import annotations

import os
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import BundleError, CommitmentError, GivenFileError, ProofError, SignatureError
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.sentence import say
from counterfoil_core.commit.merkle import MerkleTree, verify_consistency
from counterfoil_core.signing.claims import RunClaim, TreeHead
from counterfoil_core.signing.keys import PublicKey
from counterfoil_core.signing.kinds import TREE_HEAD
from counterfoil_core.signing.statements import open_said

MAX_FILE_BYTES = 64 * 2**20
"""Room for about 60,000 heads."""


def read_tree_heads(path: str | os.PathLike[str], key: PublicKey) -> tuple[TreeHead, ...]:
    """Read a file of tree heads, one signed statement a line.

    Args:
        path: A file of JSON lines; may be junk.
        key: The key that must have signed every line.

    Raises:
        GivenFileError: There is no such file, it may not be read, or it is too large.
        BundleError: The file holds nothing.
        SignatureError: A line is no tree head, or not signed by this key; the sentence names the line.
    """
    path = Path(path)
    try:
        data = read_input(path, say("the tree heads"), GivenFileError, most=MAX_FILE_BYTES)
    except GivenFileError as error:
        raise GivenFileError(error.sentence, role="heads", remedy=error.remedy, detail=error.detail) from error
    if not data or data.isspace():
        raise BundleError(
            say("The file {0} holds no tree head, so it says nothing about the run.", path.name),
            remedy=say("Take the tree heads from where the trainer published them, or audit without them."),
        )
    return open_tree_heads(data, path.name, key)


def open_tree_heads(data: bytes, name: str, key: PublicKey, first: int = 1) -> tuple[TreeHead, ...]:
    """Open the lines of a file of tree heads, from its line ``first`` on; raises SignatureError.

    Args:
        data: The lines; may be junk.
        name: Name of the file.
        key: The key that must have signed every line.
        first: Number of the first of these lines.
    """
    heads = []
    # Line by line: a list of 64 million empty ones would take half a gigabyte.
    for number, ended in enumerate(BytesIO(data), start=first):
        line = ended.removesuffix(b"\n")
        try:
            if len(line) > TREE_HEAD.most:
                raise SignatureError(say("The line is too long."))
            heads.append(open_said(TreeHead, line, key))
        except SignatureError as error:
            raise SignatureError(
                say("Line {0} of {1} is not a tree head of this trainer. {2}", number, name, error.sentence),
                remedy=say("Take the tree heads from where the trainer published them."),
                detail=error.detail,
            ) from error
    return tuple(heads)


def check_tree_heads(heads: Sequence[TreeHead], claim: RunClaim, tree: MerkleTree) -> str:
    """Check that the run extends every tree head (RFC 9162, section 2.1.4).

    That the trainer signed a head before it went on, a head does not show: its date is the trainer's word. It binds the
    trainer from the moment on at which somebody else had it.

    Args:
        heads: The tree heads, in any order, signed by the run's trainer; one or more.
        claim: The trainer's claim of the run.
        tree: The Merkle tree over the run's leaves, whose root the claim names.

    Returns:
        What was found, as a sentence.

    Raises:
        CommitmentError: A head is of another order, or the run does not extend it: the trainer signed two histories; or
            no head covers a step.
    """
    for head in heads:
        if head.size > tree.size and head.order == claim.order:
            raise CommitmentError(
                say(
                    "The trainer signed a tree head over {0} leaves, dated {1}; the run has only {2}: it was cut off.",
                    head.size,
                    head.signed_at,
                    tree.size,
                ),
                remedy=_OTHER_RUN,
            )
        check_tree_head(head, claim.order, tree)
    # A head over one leaf is about the initial state, which the order gives; and the same head twice is one head.
    sizes = {head.size for head in heads} - {1}
    if not sizes:
        raise CommitmentError(
            say("No tree head covers a step of the run: all that were given are about its initial state."),
            remedy=say("Take the tree heads from where the trainer published them, or audit without them."),
        )
    agree = (
        say("{0} tree heads that the trainer signed agree with it", len(sizes))
        if len(sizes) > 1
        else say("One tree head that the trainer signed agrees with it")
    )
    return say(
        "{0}, from step {1} on. They bind the trainer since somebody else had them; since when, this audit does not "
        "know.",
        agree,
        min(sizes) - 1,
    )


def check_tree_head(head: TreeHead, order: Digest, tree: MerkleTree) -> None:
    """Check that a history extends a tree head over no more leaves than it has.

    Args:
        head: The tree head, signed by the trainer.
        order: Digest of the order.
        tree: The Merkle tree over the leaves of the history.

    Raises:
        CommitmentError: The head is of another order, or the history does not extend it.
    """
    if head.order != order:
        raise CommitmentError(
            say(
                "A tree head, which the trainer dated {0}, is of another order, {1}.",
                head.signed_at,
                head.order.short,
            ),
            remedy=say("Take the tree heads of this run."),
        )
    try:
        verify_consistency(head.size, tree.size, head.root, tree.root, tree.consistency_proof(head.size))
    except ProofError as error:
        raise CommitmentError(
            say(
                "The trainer signed a tree head over {0} leaves, dated {1}, that the run does not extend: it "
                "signed two histories up to step {2}.",
                head.size,
                head.signed_at,
                head.size - 1,
            ),
            remedy=_OTHER_RUN,
            detail=str(error),
        ) from error


_OTHER_RUN = say("Ask the trainer for the run whose history it published.")
