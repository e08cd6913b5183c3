"""Writes docs/models.md from the table of public models: ``python packaging/models_page.py``.

The table (tests/support/public_models) says what is expected of each; ``pytest -m slow tests/models`` finds out whether
it is so, and tests/models/test_models_page.py fails when the page is not what the table gives.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.public_models.entry import KINDS, Entry  # noqa: E402
from support.public_models.table import ENTRIES  # noqa: E402

PAGE = ROOT / "docs" / "models.md"
_HEAD = """# Public models

*For*: clients who ask whether a public architecture can be ordered.
*Answers*: which were tried with their libraries' settings, and what became of each.

What becomes of public architectures and losses that are given to Counterfoil as their libraries make them: default
settings, nothing edited, tiny sizes. Each is ordered ([CustomJob](bring-your-own-model.md)), recorded for two steps
with AdamW, and audited, under a rounding profile and under an exact one ([profiles](profiles.md)). What is refused does
not depend on the size; what a step takes does ([recording](recording.md)).

Written from `tests/support/public_models` by `python packaging/models_page.py`; measured by

```console
$ pip install -e .[dev,models]
$ pytest -m slow tests/models
```

which fails where a row is not what comes out. The libraries were transformers 5.23, torchvision 0.28, timm 1.0.31,
diffusers 0.42, peft 0.21, torch_geometric 2.8, with torch 2.13.

"""


def page() -> str:
    """The whole page."""
    counted = [
        f"{sum(kind not in entry.refused for entry in ENTRIES)} of {len(ENTRIES)} under `{kind}`" for kind in KINDS
    ]
    rows = [f"| model or loss | library | {' | '.join(KINDS)} |", "|---|---|" + "---|" * len(KINDS)]
    rows += [
        f"| {entry.name} | {entry.library} | {' | '.join(_cell(entry, kind) for kind in KINDS)} |" for entry in ENTRIES
    ]
    refused = [entry for entry in ENTRIES if entry.refused]
    reasons = [f"- **{entry.name}**: {entry.why}" for entry in refused]
    said = "\n\n## Why some are refused\n" + "\n".join(reasons) if reasons else ""
    return f"{_HEAD}VERIFIED: {', '.join(counted)}.\n\n" + "\n".join(rows) + said + "\n"


def _cell(entry: Entry, kind: str) -> str:
    return "refused" if kind in entry.refused else "VERIFIED"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
