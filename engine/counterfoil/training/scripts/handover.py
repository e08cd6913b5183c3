"""How the training that a script begins is handed over to be ordered, in the place of being carried out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from counterfoil.training.custom import ClientJob
from counterfoil.training.order import OrderDraft
from counterfoil.training.stages import Preparing
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.precision import AnyPrecision


@dataclass(frozen=True)
class Compared:
    """What of an order was held against its script, and found to be the same."""

    steps: tuple[int, ...]  #: Numbers of the steps that were compared, ascending.
    ordered: int  #: How many steps the order has.
    script: Digest  #: SHA-256 of the script.
    arguments: tuple[str, ...]  #: Its arguments.
    files: Mapping[str, Digest]  #: SHA-256 of each file that it read, by its name.


@dataclass(frozen=True)
class ScriptOrder:
    """The order of the training that a script would have begun."""

    draft: OrderDraft  #: The order.
    notes: tuple[str, ...] = ()  #: Sentences on what was taken over, for the user.
    compared: Compared | None = None  #: What was compared with the script; None where nothing was.


class HandedOver(BaseException):
    """Ends a script whose training was taken over; no ``except Exception`` of the script's holds it up.

    Args:
        order: What was made of the training.
    """

    def __init__(self, order: ScriptOrder) -> None:
        super().__init__("The training was handed over.")
        self.order = order


def refuse_to_choose(question: str, profiles: Sequence[str]) -> AnyPrecision:
    """Answer a question for a precision profile where nobody can be asked.

    Args:
        question: Says what the script asks for.
        profiles: Names of the profiles that come near to it.

    Raises:
        DataError: Always; says how to choose beforehand.
    """
    raise DataError(question, remedy=f"Choose a profile: {_named(profiles)}; docs/profiles.md says which.")


def _named(profiles: Sequence[str]) -> str:
    return " or ".join(f"--precision {name}" for name in profiles)


@dataclass
class Wanted:
    """What is wanted of an order besides what the script says."""

    precision: AnyPrecision | None = None  #: The precision profile; None leaves it to the script.
    max_steps: int | None = None  #: Most steps; None leaves it to the script.
    #: Whether loops of libraries are taken over; else they are followed like any other.
    takeovers: bool = field(default=True, kw_only=True)
    #: Asks for a profile, given a question and the names of those that come near; raises DataError where nobody can be
    #: asked.
    choose: Callable[[str, Sequence[str]], AnyPrecision] = refuse_to_choose
    #: Drafts the order of a job, as the command shows it.
    draft: Callable[[ClientJob, AnyPrecision | None], OrderDraft] = lambda job, precision: job.draft(precision)
    tell: Callable[[Preparing], None] = lambda _: None  #: Is told how far a script is followed.
    #: Is called before an order is drafted: whoever follows the script lets go of torch.
    before: Callable[[], None] = lambda: None
    #: What the script decides by values that nobody has seen: by line, ``name.py:number``, and for all under an empty
    #: text.
    answers: Mapping[str, bool] = field(default_factory=dict, kw_only=True)
    #: How many steps are compared with the script; None for as many as it makes in a while, 0 for none.
    compare: int | None = field(default=None, kw_only=True)
    #: Whether the script may use one when it runs by itself the first time.
    network: bool = field(default=True, kw_only=True)
    #: Whether the script scores a model, and trains none.
    evaluates: bool = field(default=False, kw_only=True)
    #: What an evaluation calls counts, by what the order calls them.
    counts: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    #: The state is stored every so many steps; None for the usual.
    checkpoint_every: int | None = field(default=None, kw_only=True)
    #: Whether the script's own loop is followed, and none was taken over.
    followed: bool = field(default=False, init=False)
    #: Whether a library's loop was taken over, and its training begun to be drafted.
    taken_over: bool = field(default=False, init=False)
    #: What was handed over. The script may hold up :class:`HandedOver` nevertheless.
    found: ScriptOrder | None = field(default=None, init=False)
    #: What the script called in each step that was followed.
    calls: tuple[tuple[str, ...], ...] = field(default=(), init=False)
    #: What its plain run calls tensors of the order's state, where they have other names there.
    sources: Mapping[str, str] = field(default_factory=dict, init=False)
    #: What tells its steps apart besides their programs.
    kinds: tuple[tuple[object, ...], ...] = field(default=(), init=False)

    def steps(self, planned: int) -> int:
        """Return how many of so many steps are ordered."""
        return planned if self.max_steps is None else min(planned, self.max_steps)

    def profile(self, question: str, profiles: Sequence[str]) -> AnyPrecision:
        """Return the profile for a script that computes in mixed precision: the one that is wanted, or asked for.

        Args:
            question: Says what the script asks for.
            profiles: Names of the profiles that come near to it, the nearest first.

        Raises:
            DataError: None is wanted, and nobody can be asked.
        """
        if self.precision is None:
            self.precision = self.choose(question, profiles)
        return self.precision

    def hand_over(self, job: ClientJob, notes: Sequence[str] = ()) -> NoReturn:
        """Draft the order of a training, and end the script; what the script holds open is open until then.

        Args:
            job: The training.
            notes: Sentences on what was taken over, for the user.

        Raises:
            HandedOver: Always, unless the job cannot be ordered: whatever the draft raises then.
        """
        self.before()
        self.taken_over = not self.followed
        self.found = ScriptOrder(self.draft(job, self.precision), tuple(notes))
        raise HandedOver(self.found)
