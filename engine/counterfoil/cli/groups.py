"""Groups of options, as data: a dataclass each of whose fields is an option, or another group.

A command takes a group as one parameter. Everything else that knows options, which is typer, the comparison of paths
(:mod:`counterfoil.cli.places`), man pages, completions and the window's forms, sees the command as :func:`flat` makes
it, with each option by itself. So an option of several commands is declared once, with what is made of it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

_NOTHING = inspect.Parameter.empty


@dataclass(frozen=True, init=False)
class Defaults:
    """Other defaults of a group's options in one command: ``Annotated[Group, Defaults(steps=60)]``."""

    values: Mapping[str, object]

    def __init__(self, **values: object) -> None:
        object.__setattr__(self, "values", values)


def flat(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes each option by itself.

    Options without a default come first, as a command can do nothing without them, and the others as they are declared.

    Args:
        command: Its parameters are options and groups.

    Raises:
        TypeError: Two of its groups have an option of the same name.
    """
    parameters = inspect.signature(command, eval_str=True).parameters
    groups = {name: group for name, each in parameters.items() if (group := _group(each.annotation)) is not None}
    if not groups:
        return command
    options = [option for each in parameters.values() for option in _options(each)]
    if len({option.name for option in options}) < len(options):
        raise TypeError(f"{command.__qualname__} has an option twice")

    @functools.wraps(command)
    def run(**values: Any) -> None:
        command(**{name: groups[name].make(values) if name in groups else values[name] for name in parameters})

    options.sort(key=lambda option: option.default is not _NOTHING)
    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


@dataclass(frozen=True)
class _Group:
    """A group as one command takes it."""

    kind: type
    defaults: Mapping[str, object]

    def make(self, values: Mapping[str, Any]) -> Any:
        """Return it with the values of its options, which are among these."""
        made = {}
        for field, annotation in self.fields():
            inner = _group(annotation)
            made[field.name] = values[field.name] if inner is None else self.within(inner).make(values)
        return self.kind(**made)

    def fields(self) -> Iterator[tuple[Field[Any], Any]]:
        """Its fields, with their annotations."""
        hints = get_type_hints(self.kind, include_extras=True)
        return ((field, hints[field.name]) for field in fields(self.kind) if field.init)

    def within(self, inner: _Group) -> _Group:
        """A group in this one, with the defaults that are set for this one."""
        return _Group(inner.kind, {**inner.defaults, **self.defaults})


def _group(annotation: Any) -> _Group | None:
    """The group that an annotation names; None for an option."""
    kind, *notes = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
    if not (isinstance(kind, type) and is_dataclass(kind)):
        return None
    return _Group(
        kind, {name: value for note in notes if isinstance(note, Defaults) for name, value in note.values.items()}
    )


def _options(parameter: inspect.Parameter) -> Iterator[inspect.Parameter]:
    """The options that stand behind a parameter."""
    group = _group(parameter.annotation)
    if group is None:
        yield parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
    else:
        yield from _options_of(group)


def _options_of(group: _Group) -> Iterator[inspect.Parameter]:
    for field, annotation in group.fields():
        inner = _group(annotation)
        if inner is not None:
            yield from _options_of(group.within(inner))
        else:
            default = group.defaults.get(field.name, _NOTHING if field.default is MISSING else field.default)
            yield inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
