"""How many steps an order or a run has, and after which of them the state is digested and stored. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Extent:
    """The steps of an order, or of a run, which may end before the last step that was ordered."""

    steps: int  #: Number of steps.
    commit_every: int  #: The state is digested at every step that this divides, and at the last.
    #: The state is stored at every step that this divides, and at the last; a multiple of commit_every.
    checkpoint_every: int

    def is_committed(self, step: int) -> bool:
        """Whether the state after ``step`` is digested."""
        return 0 <= step <= self.steps and (step % self.commit_every == 0 or step == self.steps)

    def is_checkpoint(self, step: int) -> bool:
        """Whether the state after ``step`` is stored; step 0 is not, since the order holds the initial state."""
        return 0 < step <= self.steps and (step % self.checkpoint_every == 0 or step == self.steps)

    def committed_before(self, step: int) -> int:
        """Return the last step before ``step`` whose state is digested; 0 is the initial state."""
        return (step - 1) // self.commit_every * self.commit_every

    def checkpoint_before(self, step: int) -> int:
        """Return the last step before ``step`` whose state is stored; 0 is the initial state."""
        return (step - 1) // self.checkpoint_every * self.checkpoint_every

    def committed_number(self, step: int) -> int:
        """Return the number of a digested state among them, that of step 0 being 0."""
        return -(-step // self.commit_every)

    @property
    def committed_steps(self) -> int:
        """How many states are digested, that of step 0 included."""
        return self.steps // self.commit_every + 1 + (self.steps % self.commit_every != 0)

    @property
    def checkpoint_count(self) -> int:
        """How many states are stored."""
        return self.steps // self.checkpoint_every + (self.steps % self.checkpoint_every != 0)

    @property
    def checkpoint_steps(self) -> tuple[int, ...]:
        """The steps at which a state is stored, ascending."""
        regular = range(self.checkpoint_every, self.steps + 1, self.checkpoint_every)
        return (*regular, self.steps) if self.steps % self.checkpoint_every else tuple(regular)
