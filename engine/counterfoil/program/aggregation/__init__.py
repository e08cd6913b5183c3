"""Rules of aggregation, which make one gradient of those of several shares, some of which may lie.

A rule is the beginning of an order's update program, in the operators of the allow-list, as optimizers are;
docs/aggregation.md defines each.
"""

from counterfoil.program.aggregation.names import RULES, parse_rule
from counterfoil.program.aggregation.optimizer import Aggregating, WorkerMomentum
from counterfoil.program.aggregation.rule import Aggregate, AggregationRule, ShareRule
from counterfoil.program.aggregation.rules import CentredClipping, Krum, Mean, Median, MultiKrum, SparseFed, TrimmedMean

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
