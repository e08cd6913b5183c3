"""The README.md of a hub's folder: what lies in it, what was checked of it, by whom, and what was not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from counterfoil.audit.values.delivery import DeliveryOutcome, DeliveryReport
from counterfoil.exports.modelcard import code, model_card, plain
from counterfoil_core.base.digest import Digest
from counterfoil_core.bundle.schema import OrderManifest
from counterfoil_core.statement.judgement import Verdict

_SOURCES = {"model": "the model", "data": "the data"}


@dataclass(frozen=True)
class ListedFile:
    """A file of the folder: the digest of its bytes, and where it is from, in words."""

    digest: Digest
    origin: str


@dataclass(frozen=True)
class Names:
    """What the card's commands and its header say."""

    run: str  #: Name of the run's file.
    verdict: str  #: Name of the verdict's file in the folder.
    key: str  #: Name of the auditor's public key in the folder.
    library: str  #: The library that loads the weights: ``transformers`` or ``peft``.
    base: str  #: Under which name others find the model that was adapted; empty for none.
    prefix: str  #: What the run's names begin with and those of the files do not.
    average: bool  #: Whether the weights are averages.


def card(
    verdict: Verdict,
    delivered: DeliveryReport,
    manifest: OrderManifest,
    files: Mapping[str, ListedFile],
    names: Names,
) -> str:
    """Return the card.

    Args:
        verdict: The verdict, on the very run that the weights are of.
        delivered: What a comparison of the weights in the folder found, by this verdict.
        manifest: The order of the run.
        files: The files of the folder but for the card itself.
        names: What the commands say.
    """
    header = {"library_name": names.library} | ({"base_model": names.base} if names.base else {})
    rows = [f"| {_cell(name)} | {plain(file.origin)} | `{file.digest.hex}` |" for name, file in files.items()]
    options = (f" --prefix {names.prefix}" if names.prefix else "") + (" --average" if names.average else "")
    return "\n".join(
        [
            "---",
            *(f"{name}: {json.dumps(value)}" for name, value in header.items()),
            "---",
            "",
            f"# {plain(manifest.title)}",
            "",
            _first(delivered, manifest, names),
            "",
            model_card(verdict, names.key, names.verdict, delivered).rstrip("\n"),
            "",
            f"Whoever has the run, `{code(names.run)}`, can compare the weights here with it:",
            f"`counterfoil verify-weights . {code(names.run)} --verdict {code(names.verdict)} --key "
            f"{code(names.key)}{options}`",
            "",
            "That the key in this folder is the auditor's must be known from elsewhere: whoever wrote the folder put "
            "it there.",
            "",
            "## Files",
            "| file | from | SHA-256 |",
            "|---|---|---|",
            *rows,
            "",
            "Only the weights were compared with the run. Configuration and tokenizer were checked by nobody, and what "
            "the model does depends on them too.",
            *_sources(manifest),
            "",
        ]
    )


def _first(delivered: DeliveryReport, manifest: OrderManifest, names: Names) -> str:
    """What the weights are, before anything is said of a verdict."""
    what = "adapters of a model that is not here itself" if names.library == "peft" else "a model"
    how = "averages of its weights" if names.average else "its weights"
    said = f"The weights in this folder are {what}: {how} after step {delivered.step} of a training whose steps were "
    said += f"recorded (order `{manifest.digest}`, run root `{delivered.run_root}`). "
    if delivered.step < delivered.steps_ordered:
        said += f"It has {delivered.step} of {delivered.steps_ordered} ordered steps. "
    if delivered.outcome is DeliveryOutcome.DELIVERED:
        return said + "What an auditor replayed of it stands below."
    return said + "**No verdict says that they are those of a verified training**; what was found stands below."


def _cell(name: str) -> str:
    """A name as a cell of a table."""
    return f"`{code(name)}`".replace("|", "\\|")


def _sources(manifest: OrderManifest) -> list[str]:
    """The files that the order says that it was made from."""
    rows = [
        f"| {_SOURCES.get(part, plain(part))} | {_cell(name)} | `{file.digest.hex}` |"
        for part, source in sorted(manifest.sources.items())
        for name, file in sorted(source.files.items())
    ]
    if not rows:
        return []
    return [
        "",
        "## Made from",
        "The order names these files, which were digested when it was written, by its client's word:",
        "",
        "| part | file | SHA-256 |",
        "|---|---|---|",
        *rows,
    ]
