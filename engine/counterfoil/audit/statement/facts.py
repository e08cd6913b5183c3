"""Facts of a run that somebody signed, counted again; docs/facts.md."""

from __future__ import annotations

from counterfoil_core.statement.factfields import FactsFields, fields_of
from counterfoil_core.values.runfacts import RunFacts


def differing(said: FactsFields, facts: RunFacts) -> tuple[str, ...]:
    """Return the names of the facts that are not as they were signed. Pure.

    Args:
        said: What was signed.
        facts: What the run shows, with the energy that was signed.
    """
    ours = fields_of(facts)
    return tuple(sorted(name for name in ours.__struct_fields__ if getattr(ours, name) != getattr(said, name)))
