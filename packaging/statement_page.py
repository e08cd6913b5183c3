"""Writes docs/statements.md from what declares each kind of statement: ``python packaging/statement_page.py``.

A test fails when the page is not what the declarations give.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec.inspect as forms

from counterfoil.signing.kinds import FORMS
from counterfoil_core.base.digest import Digest
from counterfoil_core.signing import kinds
from counterfoil_core.signing.kinds import DigestText, Kind, Moment, Said, Text
from counterfoil_core.statement.model import Count, ExactDecimal

PAGE = Path(__file__).parents[1] / "docs" / "statements.md"
_HEAD = f"""# Statements

*For*: whoever writes a program that reads what Counterfoil signs, and whoever has to know what a statement says.
*Answers*: each kind, field by field: its form, its bounds, what it is about, and who signs it. It is normative.

All that anybody signs with Counterfoil is an in-toto Statement v1 in a DSSE envelope. `counterfoil verify FILE` knows
each kind by its predicate type, says who signed it, and compares it with what it is about where that is given.
`counterfoil sign FILE` signs one that lies unsigned in a file; it shows first what it signs.

Written from the declarations in `counterfoil_core/signing/claims.py`, `counterfoil_core/statement/` and
`counterfoil/signing/kinds.py` by `python packaging/statement_page.py`.

## The envelope
A JSON object of `payloadType` (`"{kinds.PAYLOAD_TYPE}"`), `payload` (base64), and `signatures`, a list of one object
of `keyid` and `sig` (base64). Over which bytes the signature is, and with which keys, is in
[bundle-format.md](bundle-format.md#7-the-claim). A reader refuses any other member, a member twice, and another number
of signatures, with two exceptions, by kind:

- Beside the signature of a verdict and of an adjudication may lie a chain of
  [certificates](keys.md#a-certificate-beside-the-key): `certificate`, and with it `intermediates`.
- A comparison with a script may have no signature: `signatures` is the empty list then. It is the word of whoever wrote
  the file, and its predicate has neither `signed_at` nor `public_key`.

## What a reader checks
In this order: the length of the file; the signature over the received bytes; that the payload is canonical JSON of a
statement of this kind; that it names the key that signed it, where it names one; that each field of the table is there,
of its form and inside of its bounds, and no other; that each time is a moment of the calendar; that the subjects are
what the fields say, in this order and no others; and what must hold between fields. A field that *may be absent* is
absent where it would say nothing: it is never null instead. Before anything is signed, it is read in the same way.

Digests are 64 lower-case hexadecimal digits. Times are UTC in whole seconds, `2025-01-31T12:00:00Z`, by the clock of
whoever signs. Keys are PEM text.
"""
_WORDS = {
    forms.type_info(DigestText).pattern: "64 hexadecimal digits",
    forms.type_info(Moment).pattern: "a time",
    forms.type_info(Text).pattern: "text, not blank",
    r"\A[^/]": "text that does not begin with `/`",
}
_CUSTOM: dict[type, str] = {Digest: "a digest", Count: "a count, as text", ExactDecimal: "a decimal number, as text"}
_ABOUT = {
    kinds.REVOCATIONS: "each revoked key in turn: `key`, by its key id as `counterfoilKeyId`",
    kinds.RELEASE: "each file in turn, by its name, and its `sha256`; sorted by name",
    kinds.VERDICT: "[three at most](verdict.md#the-statement): the file, the run in it, and the model",
    kinds.ADJUDICATION: "the capsule, and the run: [as of a verdict](verdict.md#adjudications)",
}
_MORE = {
    kinds.VERDICT: "What the fields mean, and what must hold between them, is on [a page of its own](verdict.md).",
    kinds.ADJUDICATION: "What the fields mean is on [the verdict's page](verdict.md#adjudications).",
    kinds.RUN: "[The bundle format](bundle-format.md#7-the-claim) says where it lies.",
    kinds.ORDER: "[The bundle format](bundle-format.md#15-whose-order) says where it lies.",
    kinds.ACCEPTANCE: "[The bundle format](bundle-format.md#15-whose-order) says where it lies.",
    kinds.TREE_HEAD: "[The bundle format](bundle-format.md#12-tree-heads) says where they lie: one a line.",
    kinds.SHARE: "[The bundle format](bundle-format.md#signed-shares) says where its signature lies.",
}


def page() -> str:
    """The whole page."""
    told: set[type] = set()
    parts = [_HEAD, "## The kinds", "| kind | predicate type | signed by |", "|---|---|---|"]
    by_kind: dict[Kind, type[Said]] = {form.KIND: form for form in FORMS.values()}
    parts += [
        f"| [{kind.what}](#{kind.what.lower().replace(' ', '-').replace(chr(39), '')}) | "
        f"{', '.join(f'`{each}`' for each in kind.predicates)} | {kind.by} |"
        for kind in by_kind
    ]
    for kind, form in by_kind.items():
        parts += ["", f"### {kind.what[:1].upper()}{kind.what[1:]}", *_kind(kind, form, told)]
    return "\n".join(parts) + "\n"


def _kind(kind: Kind, form: type[Said], told: set[type]) -> Iterator[str]:
    yield f"{_docstring(form)} A file has at most {kind.most:,} bytes. {_MORE.get(kind, '')}".rstrip()
    yield ""
    subjects = [f"`{each.name}`, whose `{each.algorithm}` is `{each.field}`" for each in form.ABOUT]
    yield f"Subjects: {_ABOUT.get(kind) or '; '.join(subjects)}."
    if form.APART and form.ABOUT:
        yield f"`{'`, `'.join(form.APART)}` stands in the subject alone, and in no field of the predicate."
    yield ""
    yield from _table(form, told, form.APART)


def _table(form: type[Any], told: set[type], apart: tuple[str, ...] = ()) -> Iterator[str]:
    info = forms.type_info(form)
    assert isinstance(info, forms.StructType)
    meaning = dict(_comments(form))
    inner: list[type] = []
    rows = []
    for field in info.fields:
        if field.name in apart:
            continue
        said = _form(field.type, inner)
        filled = issubclass(form, Said) and field.name in (form.TIME, "public_key") and form.KIND.needs_signature
        if not field.required and not filled and info.cls.__struct_config__.omit_defaults:
            said += "; may be absent"
        rows.append((field.encode_name, said, meaning.get(field.name, "").replace("``", "`")))
    if info.tag is not None:
        rows.append((str(info.tag_field), f"`{info.tag}`", "What it says."))
    if any(row[2] for row in rows):
        yield from ("| field | form | meaning |", "|---|---|---|")
        yield from (f"| `{name}` | {said} | {words} |" for name, said, words in rows)
    else:
        yield from ("| field | form |", "|---|---|")
        yield from (f"| `{name}` | {said} |" for name, said, _ in rows)
    for each in inner:
        if each not in told:
            told.add(each)
            yield from ("", f"**{_name(each)}**: {_docstring(each)}", "")
            yield from _table(each, told)


def _docstring(form: type) -> str:
    said = " ".join((form.__doc__ or "").split()).replace("``", "`")
    return re.sub(r"docs/([a-z-]+)\.md", r"[More](\1.md)", said)


def _name(form: type) -> str:
    words = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in form.__name__).strip()
    return words.removesuffix(" fields")


def _form(kind: Any, inner: list[type]) -> str:
    """What msgspec reads there, in words; the objects in it are noted in ``inner``."""
    match kind:
        case forms.StructType():
            inner.append(kind.cls)
            return f"object: {_name(kind.cls)}"
        case forms.CustomType():
            return _CUSTOM[kind.cls]
        case forms.UnionType():
            others = sorted(kind.types, key=lambda each: isinstance(each, forms.NoneType))
            return " or ".join(_form(each, inner) for each in others)
        case forms.NoneType():
            return "null"
        case forms.EnumType():
            return "one of " + ", ".join(f"`{each.value}`" for each in kind.cls)
        case forms.LiteralType():
            return "one of " + ", ".join(f"`{each}`" if each != "" else "nothing" for each in kind.values)
        case forms.StrType():
            said = _WORDS.get(kind.pattern) or (
                f"text of the form `{_plain(kind.pattern)}`" if kind.pattern else "text"
            )
            return said + (f", {kind.max_length:,} characters at most" if kind.max_length else "")
        case forms.IntType():
            most = kind.le if kind.le is not None else None if kind.lt is None else kind.lt - 1
            return "a whole number" if kind.ge is None else f"{kind.ge:,} to {most:,}"
        case forms.BoolType():
            return "true or false"
        case forms.TupleType():
            return f"list of {len(kind.item_types)}: {', '.join(_form(each, inner) for each in kind.item_types)}"
        case forms.VarTupleType():
            return f"list of {_form(kind.item_type, inner)}{_length(kind)}"
        case forms.DictType():
            key, value = _form(kind.key_type, inner), _form(kind.value_type, inner)
            return f"object of names ({key}), each with {value}{_length(kind)}"
    return "[parts of a sentence](verdict.md#sentences-and-their-parts)"


def _plain(pattern: str) -> str:
    return pattern.removeprefix(r"\A").removesuffix(r"\Z").replace("|", r"\|")


def _length(kind: Any) -> str:
    least, most = kind.min_length or 0, kind.max_length
    return "" if most is None and not least else f"; {least:,} to {most:,}" if most else f"; at least {least:,}"


def _comments(form: type) -> Iterator[tuple[str, str]]:
    """The fields of a class and of those that it extends, each with its comment: on its line, or on those before."""
    for each in reversed(form.__mro__):
        if each.__module__.startswith("counterfoil"):
            lines = textwrap.dedent(inspect.getsource(each)).split("\n")
            for node in ast.parse("\n".join(lines)).body[0].body:  # type: ignore[attr-defined]
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    behind = lines[(node.end_lineno or 0) - 1].partition("#: ")[2]
                    above: list[str] = []
                    for line in reversed(lines[: node.lineno - 1]):
                        if not line.strip().startswith("#: "):
                            break
                        above.insert(0, line.strip().removeprefix("#: "))
                    yield node.target.id, behind or " ".join(above)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"Wrote {PAGE}\n")
