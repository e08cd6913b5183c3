"""Rules of aggregation by name, as a command line has them."""

from __future__ import annotations

from collections.abc import Mapping

from counterfoil.program.aggregation.optimizer import WorkerMomentum
from counterfoil.program.aggregation.rule import AggregationRule, ShareRule
from counterfoil.program.aggregation.rules import CentredClipping, Krum, Mean, Median, MultiKrum, SparseFed, TrimmedMean
from counterfoil_core.base.errors import DataError

RULES: Mapping[str, type[ShareRule]] = {
    "mean": Mean,
    "median": Median,
    "trimmed-mean": TrimmedMean,
    "krum": Krum,
    "multi-krum": MultiKrum,
    "centred-clipping": CentredClipping,
    "top-k": SparseFed,
}
"""The rules by name."""


def parse_rule(
    name: str, *, shares: int, faulty: int = 0, momentum: float = 0.0, settings: Mapping[str, float | int] | None = None
) -> AggregationRule:
    """Return the rule of a name.

    Args:
        name: One of :data:`RULES`.
        shares: How many shares a step has.
        faulty: How many of them may be faulty.
        momentum: The decay of worker momentum; 0 for none.
        settings: The rule's own settings by name: ``radius`` and ``iterations`` of centred clipping, ``limit`` and
            ``kept`` of top-k.

    Raises:
        DataError: There is no such rule, it has no such setting, or its needs are not met.
    """
    found = RULES.get(name)
    if found is None:
        raise DataError(f"There is no rule of aggregation {name!r}.", remedy=f"Choose one of {', '.join(RULES)}.")
    own = found.settings()
    for setting in settings or {}:
        if setting not in own:
            raise DataError(
                f"The rule {name} has no setting {setting!r}.",
                remedy=f"It has {', '.join(own)}." if own else "It has none.",
            )
    rule = found(shares, faulty, **(settings or {}))
    return WorkerMomentum(rule, momentum) if momentum else rule
