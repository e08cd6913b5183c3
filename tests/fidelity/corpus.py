"""The scripts: ``scripts/IDIOM/NAME.py``, each an ordinary training script that stands alone."""

from __future__ import annotations

import ast
import importlib.util
from dataclasses import dataclass
from pathlib import Path

SCRIPTS = Path(__file__).parent / "scripts"
LIBRARIES = ("accelerate", "datasets", "lightning", "peft", "pytorch_lightning", "transformers", "trl")
"""Libraries that take seconds to load: loaded once for all scripts that need them, behind all others."""


@dataclass(frozen=True)
class CorpusScript:
    """A script.

    Attributes:
        path: Where it lies.
        name: Its idiom, and its name.
        imports: Its import statements of the libraries above.
        missing: Packages that it imports and that are not installed.
    """

    path: Path
    name: str
    imports: tuple[str, ...]
    missing: tuple[str, ...]

    @classmethod
    def of(cls, path: Path) -> CorpusScript:
        """Look at a script; nothing of it runs."""
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imports: list[str] = []
        packages: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                own = {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                own = {node.module.partition(".")[0]}
            else:
                continue
            packages |= own
            if own.intersection(LIBRARIES):
                imports.append(ast.unparse(node))
        missing = sorted(name for name in packages if importlib.util.find_spec(name) is None)
        return cls(path, f"{path.parent.name}/{path.stem}", tuple(imports), tuple(missing))

    @property
    def idiom(self) -> str:
        """The folder that it lies in."""
        return self.name.partition("/")[0]


def corpus(folder: Path = SCRIPTS) -> list[CorpusScript]:
    """Every script of a folder, sorted by its name."""
    return [CorpusScript.of(path) for path in sorted(folder.glob("*/*.py"))]


def by_name(name: str) -> CorpusScript:
    """The script of a name."""
    return CorpusScript.of(SCRIPTS / f"{name}.py")
