"""Values that a step is asked for while it has none: for a log, a message, a metric, a branch.

While a step is captured its tensors have no values. Who asks for one gets a placeholder (:mod:`numbers`, and
:mod:`arrays` for numpy), which can be stored, formatted and computed with, and never looks like a number. One that
comes back into a tensor is refused with the place where it was asked for. Where Python asks for its truth a policy
answers; whoever captures tries both answers (:mod:`counterfoil.program.steadily`).
"""

from counterfoil.program.asked.numbers import Asked
from counterfoil.program.asked.plain import Again, PlainNames
from counterfoil.program.asked.questions import AskedValues, Policy

__all__ = ["Again", "Asked", "AskedValues", "PlainNames", "Policy"]
