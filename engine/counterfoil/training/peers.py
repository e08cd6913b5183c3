"""What the ranks of a recording agree on: the order, where they begin, and that all have one state.

Rank 0 says what is to be done, and the others do it. What they tell it of shares is in
:mod:`counterfoil.training.together`.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import torch
from torch import Tensor

import counterfoil
from counterfoil.base.joberrors import RankError, UnequalStatesError
from counterfoil.distributed.liveness import name_ranks
from counterfoil.distributed.ranks import Ranks
from counterfoil.sandbox.box import sandbox
from counterfoil.talk.messages import decode, encode
from counterfoil_core.base.digest import Digest
from counterfoil_core.bundle.schema import MAX_ENVIRONMENT_TEXT
from counterfoil_core.commit.statedigest import root_of

COMPARE_EVERY = 10
"""The states of all ranks are compared after every step that this divides, and before anything is stored or signed."""

_BEGIN = struct.Struct("<Q?")
_ENDED = struct.Struct("<Q??")


@dataclass(frozen=True)
class _Facts:
    """What all ranks must have in common."""

    order: Digest  #: The order's digest, which holds profile and seed too.
    counterfoil: str  #: Version of Counterfoil.
    torch: str  #: Version of torch, major and minor.


@dataclass(frozen=True)
class _Ready:
    """What a rank says of itself before it begins."""

    device: str  #: What it computes on.
    sandbox: str  #: How far its box is closed.


def _facts(order: Digest) -> _Facts:
    return _Facts(order, counterfoil.__version__, ".".join(torch.__version__.split(".")[:2]))


class NoPeers:
    """A recording of one process, which agrees with itself."""

    size = 1
    compared = 0

    def begin(self, step: int, state: Mapping[str, Tensor], device: str, *, ends: bool) -> Mapping[str, Tensor]:
        """Return the state as it is."""
        return state

    def settle(self, step: int, state: Mapping[str, Tensor], *, signed: bool, ends: bool) -> Digest | None:
        """Nothing is to be compared."""
        return None

    def environment(self) -> dict[str, str]:
        """Return what a claim says of the box."""
        return {"sandbox": sandbox()}


class Peers:
    """The other ranks, as rank 0 sees them.

    Args:
        ranks: The ranks.
        order: The order's digest.

    Attributes:
        compared: The last step after which all had one state.
    """

    def __init__(self, ranks: Ranks, order: Digest) -> None:
        self._ranks = ranks
        self.size, self.compared = ranks.size, 0
        self._ready: Sequence[_Ready] = ()
        ranks.tell(encode(_facts(order)))

    def begin(self, step: int, state: Mapping[str, Tensor], device: str, *, ends: bool) -> Mapping[str, Tensor]:
        """Wait until all ranks are ready, and give them the state after the last finished step.

        Args:
            step: That step.
            state: The state.
            device: What this rank computes on.
            ends: Whether it was the run's last.
        """
        self._ranks.say(encode(_Ready(device, sandbox())))
        self._ready = [decode(said, _Ready) for said in self._ranks.all_said()]
        self._ranks.tell(_BEGIN.pack(step, ends))
        self.compared = step
        return self._ranks.spread(state, 0)

    def settle(self, step: int, state: Mapping[str, Tensor], *, signed: bool, ends: bool) -> Digest | None:
        """Tell the others whether the run ends after a step, and compare the states where it is time.

        Args:
            step: The step.
            state: The state after it.
            signed: Whether it is stored or signed.
            ends: Whether the run ends after it.

        Returns:
            The root of the state, where it was compared.

        Raises:
            UnequalStatesError: Ranks have different states; nobody has signed one of them.
        """
        compares = signed or ends or step % COMPARE_EVERY == 0
        self._ranks.tell(_ENDED.pack(step, compares, ends))
        if not compares:
            return None
        root = _compare(self._ranks, step, state)
        self.compared = step
        return root

    def environment(self) -> dict[str, str]:
        """Return what a claim says of the ranks: how many, the device of each, and how far its box is closed."""
        boxes = [each.sandbox for each in self._ready]
        return {
            "rank_devices": _in_runs([each.device for each in self._ready])[:MAX_ENVIRONMENT_TEXT],
            "ranks": str(self.size),
            "sandbox": boxes[0] if len(set(boxes)) == 1 else _in_runs(boxes)[:MAX_ENVIRONMENT_TEXT],
        }


def peers_of(ranks: Ranks | None, order: Digest) -> Peers | NoPeers:
    """Return what rank 0, or a process alone, agrees on with others."""
    return NoPeers() if ranks is None else Peers(ranks, order)


class Follower:
    """What a rank that is not rank 0 does as rank 0 says.

    Args:
        ranks: The ranks.
        order: The digest of the order that it was given.

    Raises:
        RankError: Rank 0 has another order, or another version.
    """

    def __init__(self, ranks: Ranks, order: Digest) -> None:
        self._ranks = ranks
        _check_same(_facts(order), decode(ranks.hear(), _Facts))

    def begin(self, like: Mapping[str, Tensor], device: str) -> tuple[int, Mapping[str, Tensor], bool]:
        """Say that it is ready; returns the last step that is finished, the state, and whether it was the run's last.

        Args:
            like: A state of the order.
            device: What this rank computes on.
        """
        self._ranks.say(encode(_Ready(device, sandbox())))
        step, ends = _BEGIN.unpack(self._ranks.hear())
        return step, self._ranks.spread(like, 0), ends

    def settle(self, step: int, state: Mapping[str, Tensor]) -> bool:
        """Return whether the run ends after a step, whose state is compared where rank 0 says so.

        Raises:
            UnequalStatesError: Ranks have different states.
        """
        told, compares, ends = _ENDED.unpack(self._ranks.hear())
        assert told == step, "ranks execute the same steps"
        if compares:
            _compare(self._ranks, step, state)
        return bool(ends)


def _check_same(own: _Facts, wanted: _Facts) -> None:
    if own.counterfoil != wanted.counterfoil:
        raise RankError(
            f"It runs Counterfoil {own.counterfoil}, and rank 0 runs {wanted.counterfoil}.",
            remedy="Install the same version on all machines.",
        )
    if own.torch != wanted.torch:
        raise RankError(
            f"It runs torch {own.torch}, and rank 0 runs {wanted.torch}.",
            remedy="Install the same version on all machines.",
        )
    if own.order != wanted.order:
        raise RankError(
            f"Its order is another one than rank 0's: the digests are {own.order.hex[:16]}... and "
            f"{wanted.order.hex[:16]}...",
            remedy="Give all machines the same order file.",
        )


def _compare(ranks: Ranks, step: int, state: Mapping[str, Tensor]) -> Digest:
    root = root_of(state)
    roots = ranks.all_of(root.value)
    different = others(roots)
    if not different:
        return root
    if len(different) < len(roots):
        its = "its machine computes" if len(different) == 1 else "their machines compute"
        have = "has" if len(different) == 1 else "have"
        found = f"{name_ranks(different)} {have} another state after step {step}: {its} "
        raise UnequalStatesError(
            f"{found}otherwise than {len(roots) - len(different)} others, or a memory or processor is broken.",
            remedy="Start without it.",
        )
    raise UnequalStatesError(
        f"{name_ranks(different)} have different states after step {step}: the machine of one of them computes "
        "otherwise, or its memory or processor is broken.",
        remedy="Start with three ranks, or with more, to learn whose; or with other machines.",
    )


def others(roots: Sequence[bytes]) -> list[int]:
    """Return the ranks whose state is not that of more than half of all; all of them where no half agrees."""
    most, number = Counter(roots).most_common(1)[0]
    if 2 * number <= len(roots):
        return list(range(len(roots)))
    return [rank for rank, root in enumerate(roots) if root != most]


def _in_runs(devices: Sequence[str]) -> str:
    """Return what each rank says, as ``0-3: cpu (x86_64), 4: cuda:0 (H100)``."""
    runs, first = list[str](), 0
    for device, group in groupby(devices):
        last = first + len(list(group)) - 1
        runs.append(f"{first}: {device}" if first == last else f"{first}-{last}: {device}")
        first = last + 1
    return ", ".join(runs)
