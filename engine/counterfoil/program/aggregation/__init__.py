"""Rules of aggregation, which make one gradient of those of several shares, some of which may lie.

A rule is the beginning of an order's update program, in the operators of the allow-list, as optimizers are;
docs/aggregation.md defines each.
"""

from counterfoil.program.aggregation.clipping import CentredClipping, SparseFed
from counterfoil.program.aggregation.coordinates import Mean, Median, TrimmedMean
from counterfoil.program.aggregation.krum import Krum, MultiKrum
from counterfoil.program.aggregation.momentum import WorkerMomentum
from counterfoil.program.aggregation.names import RULES, parse_rule
from counterfoil.program.aggregation.optimizer import Aggregating
from counterfoil.program.aggregation.rule import Aggregate, AggregationRule, ShareRule

__all__ = [
    "RULES",
    "Aggregate",
    "Aggregating",
    "AggregationRule",
    "CentredClipping",
    "Krum",
    "Mean",
    "Median",
    "MultiKrum",
    "ShareRule",
    "SparseFed",
    "TrimmedMean",
    "WorkerMomentum",
    "parse_rule",
]
