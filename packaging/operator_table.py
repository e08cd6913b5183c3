"""Writes the table of docs/operators.md from the code: ``python packaging/operator_table.py``.

The test tests/engine/operators/test_page.py fails when the page is not what this gives.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from counterfoil.program.composites import COMPOSITES
from counterfoil_core.arithmetic.families.table import DEFINITIONS
from counterfoil_core.operators.bounds import always
from counterfoil_core.operators.catalogue import allowed_names, classify, decided_arguments
from counterfoil_core.operators.facts import DRAWS, Operator, OperatorClass
from counterfoil_core.operators.judge import exact_kinds
from counterfoil_core.operators.norms.facts import longest_of_batch_norm
from counterfoil_core.operators.signatures import overload

PAGE = Path(__file__).parents[1] / "docs" / "operators.md"
BEGIN, END = "<!-- operators: begin -->", "<!-- operators: end -->"
_DECOMPOSED = {f"{overload.namespace}.{overload._opname}.{overload._overloadname}" for overload in COMPOSITES}


def _literal(value: Any) -> str:
    """A default as JSON writes it; dtypes, layouts and devices default to null."""
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    return f'"{value}"' if isinstance(value, str) else str(value).replace("(", "[").replace(")", "]")


def arguments(name: str) -> str:
    """Names and defaults of an operator's arguments, in order; those after the star are given by name."""
    if name in DRAWS:
        return "shape, draw"
    shown = []
    starred = False
    for argument in overload(name)._schema.arguments:
        if argument.kwarg_only and not starred:
            shown.append("*")
            starred = True
        default = f"={_literal(argument.default_value)}" if argument.has_default_value() else ""
        shown.append(f"{argument.name}{default}")
    return ", ".join(shown)


def _class(name: str) -> tuple[str, Operator]:
    """The class in words, and the entry that names the scale."""
    usual, other = classify(name), classify(name, alpha=0.5)
    integers = classify(name, floating=False)
    if usual.operator_class is not other.operator_class:
        return "exact; rounded if alpha is neither 1 nor -1", other
    if integers.operator_class is not usual.operator_class:
        return "rounded", usual
    return usual.operator_class.value, usual


def _decides(name: str) -> str:
    """The positions of the arguments on which a discrete decision hangs."""
    always, cast = (decided_arguments(name, casts_away=casts) for casts in (False, True))
    if cast == always:
        return ", ".join(map(str, always))
    return f"{', '.join(map(str, cast))} if the result is not floating-point"


def _own_form(entry: Operator) -> str:
    """When an operator is computed in a form of Counterfoil's own."""
    if entry.longest is None:
        return ""
    return "always" if entry.longest in (always, longest_of_batch_norm) else "long"


def _exact_profile(entry: Operator) -> str:
    """What a rounded operator is under an exact profile."""
    decomposed = entry.name in _DECOMPOSED
    if entry.kind in DEFINITIONS:
        return "single or taken apart" if decomposed else "single"
    return "taken apart" if decomposed else "refused"


def table() -> str:
    """The table as Markdown."""
    lines = [
        "| operator | arguments and defaults | class | scale | decides | bound | own form | exact form "
        "| exact profile |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    exact = exact_kinds()
    for name in allowed_names():
        words, entry = _class(name)
        rounded = entry.operator_class is OperatorClass.ROUNDED
        cells = (
            f"`{name.removeprefix('aten.')}`",
            f"`{arguments(name)}`",
            words,
            entry.scale,
            _decides(name),
            ("no" if entry.bound is None else "yes") if rounded else "",
            _own_form(entry) if rounded else "",
            "yes" if entry.kind in exact else "no" if rounded else "",
            _exact_profile(entry) if rounded else "",
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def page(text: str) -> str:
    """The page with its table made again."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
