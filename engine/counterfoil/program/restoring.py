"""A model as it was before its code ran with tensors that are none."""

from __future__ import annotations

import numbers
from typing import Any

from torch import nn


class Snapshot:
    """What the modules of a model have: attributes, and what lies in their lists, sets and dicts.

    A capture runs the model with fake tensors. What a module keeps of a run for the next one, such as the sines of a
    rotary embedding or a count of its calls, would be fake ever after.
    """

    def __init__(self, model: nn.Module) -> None:
        self._kept = [(module, *_contents(module)) for module in model.modules()]

    def restore(self, *, counts: bool = True) -> None:
        """Give the model back what it had; the containers stay the same objects.

        Args:
            counts: Whether numbers that the modules have changed are given back, too.
        """
        for module, attributes, containers in self._kept:
            own = vars(module)
            moved = {} if counts else {name: own[name] for name in attributes if _moved(attributes[name], own, name)}
            own.clear()
            own.update({**attributes, **moved})
            for container, content in containers:
                container.clear()
                container.extend(content) if isinstance(container, list) else container.update(content)


def _moved(before: Any, own: dict[str, Any], name: str) -> bool:
    return isinstance(before, numbers.Number) and isinstance(own.get(name), numbers.Number) and own[name] != before


def _contents(module: nn.Module) -> tuple[dict[str, Any], list[tuple[Any, Any]]]:
    """The attributes of a module; and its lists, sets and dicts, each with a copy."""
    attributes = dict(vars(module))
    containers = [value for value in attributes.values() if isinstance(value, (list, set, dict))]
    return attributes, [(container, container.copy()) for container in containers]
