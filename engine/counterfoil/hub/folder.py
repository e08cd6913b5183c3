"""Writes the folder: the final state of a run as transformers or PEFT loads it, and what an auditor found of the run.

What was written is compared with the run, by the verdict, before the folder gets its name. Nothing is sent anywhere.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from counterfoil.audit.values.delivery import Basis, DeliveryOutcome, DeliveryProgress, DeliveryReport
from counterfoil.base.joberrors import WeightsError
from counterfoil.base.wholefiles import write_whole
from counterfoil.base.wholefolders import check_new_folder, whole_folder
from counterfoil.delivery.basis import basis_of
from counterfoil.delivery.export import write_state
from counterfoil.delivery.module import saved_names, tied_names
from counterfoil.delivery.signedrecords import signed_records
from counterfoil.delivery.verification import verify_weights
from counterfoil.hub import adapter
from counterfoil.hub.architecture import find_architecture
from counterfoil.hub.card import ListedFile, Names, card
from counterfoil.hub.source import (
    ADAPTER,
    ADAPTER_CONFIG,
    AUDITOR,
    CARD,
    CONFIG,
    INDEX,
    TRAINER,
    VERDICT,
    Source,
    json_text,
)
from counterfoil.training.huggingface.library import library, offline
from counterfoil.training.huggingface.order import RECIPE
from counterfoil.training.huggingface.rows import padding_token
from counterfoil.trust.verdictfile import Judgement
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.dtypes import tensor_bytes
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.base.sentence import say
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import OrderManifest
from counterfoil_core.parties.signatures import check_claim, need_run
from counterfoil_core.program.graph import Program
from counterfoil_core.signing.subject import Subject
from counterfoil_core.statement.judgement import Verdict
from counterfoil_core.values.outcome import Outcome

# Into which files weights go: one, or several with an index, named as transformers names them.

MOST_BYTES = 50 * 10**9
"""Bytes of a file at most, as ``save_pretrained`` of transformers has it; a larger tensor has a file of its own."""


def into_files(sizes: Mapping[str, int], most: int = MOST_BYTES) -> dict[str, list[str]]:
    """Share tensors out.

    Args:
        sizes: The bytes of each tensor by name.
        most: Bytes of a file at most.

    Returns:
        The names of each file's tensors, in alphabetical order: ``model.safetensors``, or
        ``model-00001-of-00002.safetensors`` and so on.
    """
    groups: list[list[str]] = [[]]
    size = 0
    for name in sorted(sizes):
        if groups[-1] and size + sizes[name] > most:
            groups.append([])
            size = 0
        groups[-1].append(name)
        size += sizes[name]
    if len(groups) == 1:
        return {"model.safetensors": groups[0]}
    return {f"model-{n:05}-of-{len(groups):05}.safetensors": group for n, group in enumerate(groups, 1)}


def index_of(files: Mapping[str, list[str]], sizes: Mapping[str, int]) -> dict[str, object]:
    """Return what the index of several files says: their bytes, and in which of them each tensor lies."""
    return {
        "metadata": {"total_size": sum(sizes.values())},
        "weight_map": {name: file for file, names in files.items() for name in names},
    }


_WHAT = "the folder"


@dataclass(frozen=True)
class Wanted:
    """How the folder is written."""

    base: str = ""  #: For adapters: under which name others find the model that was adapted; empty where nobody says.
    average: bool = False  #: Take the average of each weight that has one.
    most_bytes: int = MOST_BYTES  #: Bytes of a file of weights at most.


@dataclass(frozen=True)
class Written:
    """What was written."""

    folder: Path  #: The folder.
    delivered: DeliveryReport  #: What the comparison of its weights with the run found.
    files: Mapping[str, ListedFile]  #: The files in it, and where each is from.
    notes: tuple[str, ...]  #: What the user should know, sentence by sentence.


@dataclass(frozen=True)
class _Weights:
    """The files of weights, and the settings beside them."""

    #: For each file of weights the names of its tensors, each with the state tensor.
    files: Mapping[str, Mapping[str, str]]
    tied: Mapping[str, str]  #: Second names that are left out, each with the name in the files.
    settings: Mapping[str, Mapping[str, Any]]  #: The JSON files that belong to them.
    prefix: str  #: What the run's names begin with and those of the files do not.
    library: str  #: Which library loads them.
    origins: Mapping[str, str]  #: Where each of the settings is from, in words.
    needs_padding: bool = False  #: Whether the configuration must say with which token rows are padded, and does not.


def write_folder(
    run: str | os.PathLike[str],
    source: Source,
    judged: Judgement,
    out: Path,
    wanted: Wanted,
    cancel: CancelToken | None = None,
) -> Iterator[DeliveryProgress | Written]:
    """Write the folder; all of it, or nothing.

    Args:
        run: The run.
        source: What was read of the model's folder.
        judged: The verdict on this run.
        out: The folder to make.
        wanted: How.
        cancel: Looked at between tensors and files.

    Yields:
        DeliveryProgress; what was written comes last.

    Raises:
        SignatureError: The verdict is about another run.
        DataError: The run's tensors are not those of the model whose folder was read.
        RefusedError: The run is damaged, or its state is not what it commits to.
        TargetExistsError, FileWriteError: The folder cannot be written.
        CancelledError: The token was cancelled.
    """
    check_new_folder(out, _WHAT)
    with obstacles_noticed(), BundleReader.open(run) as reader:
        need_run(reader)
        yield DeliveryProgress(say("Hashing the record of the run"), 0, 1)
        about = signed_records(reader, cancel)[1]
        root = about.run_root
        verdict = judged.counted()
        _check_run(verdict, about, reader)
        weights = _weights(reader, source, wanted)
        origins = _origins(source, verdict, weights)
        with whole_folder(out, what=_WHAT) as folder:
            yield from write_state(
                reader,
                root,
                {folder / name: tensors for name, tensors in weights.files.items()},
                step=reader.extent.steps,
                tied=weights.tied,
                average=wanted.average,
                cancel=cancel,
            )
            trainer = check_claim(reader.claim(), reader.manifest, None, reader.extent.steps).public_key
            _write_files(folder, source, judged, weights, trainer)
            delivered = yield from _compared(folder, run, verdict, weights, wanted, cancel)
            files = _listed(folder, origins, reader.manifest, cancel)
            names = Names(
                Path(run).name, VERDICT, AUDITOR, weights.library, wanted.base, weights.prefix, wanted.average
            )
            text = card(verdict, delivered, reader.manifest, files, names)
            write_whole(folder / CARD, text.encode(), what=_WHAT)
    yield Written(out, delivered, files, _notes(source, weights, wanted))


def _check_run(verdict: Verdict, about: Subject, reader: BundleReader) -> None:
    """Check that a verdict is about a run, whatever it says of it."""
    if verdict.about == about:
        return
    raise SignatureError(
        say("The verdict names no run: its auditor could not read one.")
        if verdict.about is None
        else say("The verdict is about another run than {0}: {1}.", reader.path.name, verdict.about.difference(about)),
        remedy=say("Give the verdict on this very run."),
    )


def _weights(reader: BundleReader, source: Source, wanted: Wanted) -> _Weights:
    manifest, layout = reader.manifest, reader.state_layout()
    saved = saved_names(manifest, layout, average=wanted.average)
    if adapter.is_adapted(saved):
        programs = [Program.from_bytes(program) for program in reader.all_programs()]
        ranks = {name: layout[name][1][0] for name in layout if ".lora_A" in name}
        peft = adapter.peft_files(saved, programs, ranks, _classes(source), wanted.base)
        return _Weights(
            files={ADAPTER: {name: saved[own] for name, own in peft.names.items()}},
            tied={},
            settings={ADAPTER_CONFIG: peft.config},
            prefix=peft.prefix,
            library="peft",
            origins={ADAPTER_CONFIG: "the run's order and tensors"},
        )
    shapes = {name: layout[of][1] for name, of in saved.items()}
    found = find_architecture(source.config, shapes, tied_names(manifest))
    sizes = {name: tensor_bytes(*layout[saved[own]]) for name, own in found.names.items()}
    files = into_files(sizes, wanted.most_bytes)
    settings: dict[str, Mapping[str, Any]] = {CONFIG: found.config}
    if len(files) > 1:
        settings[INDEX] = index_of(files, sizes)
    changes = f", but {', '.join(found.changes)}" if found.changes else ""
    return _Weights(
        files={file: {name: saved[found.names[name]] for name in names} for file, names in files.items()},
        tied=found.tied,
        settings=settings,
        prefix=found.prefix,
        library="transformers",
        origins={CONFIG: f"the model's folder{changes}", INDEX: "the run"},
        needs_padding=manifest.recipe == RECIPE
        and found.name.endswith("ForSequenceClassification")
        and found.config.get("pad_token_id") is None,
    )


def _classes(source: Source) -> list[str]:
    named = source.config.get("architectures")
    return [str(name) for name in named] if isinstance(named, list) else []


def _origins(source: Source, verdict: Verdict, weights: _Weights) -> dict[str, str]:
    """Where each file is from, in words."""
    trainer = "given to the auditor" if verdict.trainer_key_source == "given" else "named by the run itself"
    return {
        **dict.fromkeys(source.changed, "the model's folder, without names of code"),
        **dict.fromkeys(source.files.keys() - source.changed, "the model's folder"),
        **dict.fromkeys(weights.files, "the run"),
        **weights.origins,
        VERDICT: "the auditor",
        AUDITOR: "whoever wrote this folder",
        TRAINER: f"the run; {trainer}",
    }


def _listed(
    folder: Path, origins: Mapping[str, str], manifest: OrderManifest, cancel: CancelToken | None
) -> dict[str, ListedFile]:
    """The files of the folder; of those that the order was made from it is said that they are the same."""
    named = {(name, file.digest) for source in manifest.sources.values() for name, file in source.files.items()}
    files = {}
    for path in sorted(folder.iterdir()):
        digest = Digest.of_file(path, cancel)
        same = "; the order names the same file" if (path.name, digest) in named else ""
        files[path.name] = ListedFile(digest, origins[path.name] + same)
    return files


def _write_files(folder: Path, source: Source, judged: Judgement, weights: _Weights, trainer: str) -> None:
    for name, data in {
        **source.files,
        VERDICT: judged.envelope,
        AUDITOR: judged.key.pem.encode(),
        TRAINER: trainer.encode(),
    }.items():
        write_whole(folder / name, data, what=_WHAT)
    for name, fields in weights.settings.items():
        if name == CONFIG and weights.needs_padding:
            fields = {**fields, "pad_token_id": _padding(folder)}
        write_whole(folder / name, json_text(fields), what=_WHAT)


def _padding(folder: Path) -> int:
    """The token that the order padded rows with: by it a classifier finds a row's end."""
    with offline():
        tokenizers = library("transformers", "A folder for a model hub").AutoTokenizer
        return padding_token(tokenizers.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False))


def _compared(
    folder: Path,
    run: str | os.PathLike[str],
    verdict: Verdict,
    weights: _Weights,
    wanted: Wanted,
    cancel: CancelToken | None,
) -> Generator[DeliveryProgress, None, DeliveryReport]:
    """Compare what was written with the run, as whoever gets the folder does."""
    basis: Basis | None = basis_of(verdict) if verdict.outcome is Outcome.VERIFIED else None
    report: DeliveryReport | None = None
    for event in verify_weights(folder, run, basis, prefix=weights.prefix, average=wanted.average, cancel=cancel):
        if isinstance(event, DeliveryReport):
            report = event
        else:
            yield event
    assert report is not None, "a comparison ends in a report"
    if report.outcome not in (DeliveryOutcome.DELIVERED, DeliveryOutcome.INCONCLUSIVE):
        raise WeightsError(
            say("What was written would not pass for the run's weights, and is not kept. {0}", report.sentence),
            remedy=say("Write the tensors under their own names, with: counterfoil export RUN --safetensors DIR."),
        )
    if basis is None:
        said = say(
            "The weights are the final state of the run, after step {0}, and the verdict on it says {1}.",
            report.step,
            verdict.headline,
        )
        return replace(report, sentence=said)
    return report


def _notes(source: Source, weights: _Weights, wanted: Wanted) -> tuple[str, ...]:
    notes = []
    left_out = [name for name in source.left_out if not name.startswith("model") or "safetensors" not in name]
    if left_out:
        notes.append(f"Not copied: {', '.join(left_out)}.")
    if weights.library == "peft" and not wanted.base:
        notes.append("adapter_config.json does not say of which model these are adapters: --base NAME does.")
    return tuple(notes)
