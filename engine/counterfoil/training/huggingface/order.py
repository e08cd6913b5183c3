"""Orders that fine-tune a model of Hugging Face, out of a local folder, on local data.

The settings and their defaults are those of the library's Trainer, as far as both have them.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from counterfoil.program.passes import Objective
from counterfoil.program.recompute import Segments, check_segments
from counterfoil.program.sharecapture import Buffers
from counterfoil.program.update import AdamW
from counterfoil.training.custom import CustomJob, order_custom
from counterfoil.training.evaluation import (
    RECIPE as EVALUATION,
    Evaluation,
    GivenWeights,
    answer_counts,
    classification_counts,
    load_weights,
    token_counts,
)
from counterfoil.training.finetuning import Scheduler, Task
from counterfoil.training.huggingface.folder import ModelFolder, read_folder
from counterfoil.training.huggingface.library import library, offline
from counterfoil.training.huggingface.loading import (
    PIXELS,
    SOUND,
    TOKENS,
    failing,
    load_config,
    load_model,
    load_preparation,
    load_tokenizer,
)
from counterfoil.training.huggingface.lora import Lora, adapter_places, add_adapters
from counterfoil.training.huggingface.media import Normalisation, images, sounds
from counterfoil.training.huggingface.records import COLUMNS, WORDS, Records, RowKind, data_files, read_records
from counterfoil.training.huggingface.rows import (
    TokenRows,
    causal,
    classification_row,
    pack_rows,
    translation_row,
)
from counterfoil.training.order import OrderDraft
from counterfoil.training.schedules import warmup_constant, warmup_cosine, warmup_linear
from counterfoil.training.stages import CAPTURING, Preparing, run_stage
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import BundleError, DataError
from counterfoil_core.base.generators import finish
from counterfoil_core.base.precision import AnyPrecision
from counterfoil_core.bundle.sources import MAX_FILES, Source, SourceFile, check_source_text

RECIPE = "huggingface"
DEFAULT_LENGTH = 256
"""The most tokens of a row, unless told otherwise."""
DEFAULT_RATE = 5e-5
DEFAULT_ADAPTER_RATE = 2e-4
SUMS = "SHA256SUMS"
"""The name that stands for all images or sounds in an order: it has their list, as ``sha256sum`` writes one."""
_ROWS = {PIXELS: (RowKind.IMAGE,), SOUND: (RowKind.SPEECH,)}
_PEFT = {Task.CAUSAL_LM: "CAUSAL_LM", Task.SEQ2SEQ: "SEQ_2_SEQ_LM", Task.CLASSIFICATION: "SEQ_CLS"}
_CLASSIFIERS = ("ForSequenceClassification", "ForImageClassification")
_OFTEN = 100
"""After how many files is reported."""
_FEW = 8
"""Tokens of a row that a model is called with only to see what it calls."""
_UNLIMITED = 10**6
"""Tokenizers that know no longest text name a huge one."""


_RATES = {Scheduler.LINEAR: warmup_linear, Scheduler.COSINE: warmup_cosine, Scheduler.CONSTANT: warmup_constant}


@dataclass(frozen=True)
class FineTuning:
    """The settings of a fine-tuning."""

    #: What for; unless given, classification if the data have labels, else sequence to sequence if the model has an
    #: encoder and a decoder, else a causal language model.
    task: Task | None = None
    lora: Lora | None = None  #: Adapters to train in the place of all weights.
    steps: int | None = None  #: Number of steps; unless given, as many as ``epochs`` take.
    epochs: int = 3  #: How often each row is seen.
    batch_size: int = 8  #: Rows per step.
    #: Into how many parts a step, or a share of one, splits its batch; their gradients are accumulated.
    micro_batches: int = 1
    #: Into how many shares a step divides its batch, as in :class:`counterfoil.CustomJob`; so are the next four.
    shares: int | None = None
    buffers: Buffers = "first"  #: What becomes of buffers.
    aggregate: str | None = None  #: The rule of aggregation.
    faulty: int = 0  #: How many shares it should bear with.
    worker_momentum: float = 0.0  #: How much of its momentum each share keeps.
    recompute_activations: Segments | None = None  #: As in :class:`counterfoil.CustomJob`.
    length: int | None = None  #: The most tokens of a row; 256, or what the model can see, unless given.
    pack: bool = False  #: Join texts to full rows, in the place of one padded row for each. Text files always are.
    learning_rate: float | None = None  #: The highest learning rate; 5e-5, or 2e-4 with adapters, unless given.
    scheduler: Scheduler = Scheduler.LINEAR  #: How it goes on after the warm-up.
    warmup: int = 0  #: Steps over which it rises.
    weight_decay: float = 0.0  #: Decoupled weight decay of matrices and embeddings; biases and norms do not decay.
    clip_norm: float = 1.0  #: Largest joint norm of the gradients; 0 for no limit.
    #: What the data call ``text``, ``prompt``, ``completion``, ``label``, ``image`` and ``audio``, where they call it
    #: otherwise.
    columns: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0  #: Seed of shuffling, dropout, and weights that are new.
    commit_every: int = 1  #: A state is digested every so many steps.
    checkpoint_every: int = 10  #: A state is stored every so many steps; 0 for the end of an evaluation alone.
    precision: AnyPrecision | None = None  #: The precision profile.


@dataclass(frozen=True)
class Prepared:
    """An order of a fine-tuning."""

    draft: OrderDraft  #: The order.
    #: What the client should know of how the data and the model were used, sentence by sentence.
    notes: tuple[str, ...]


def order_huggingface(folder: Path, data: Path, settings: FineTuning | None = None) -> OrderDraft:
    """Draft an order that fine-tunes a model; :func:`prepare_huggingface` reports its progress.

    Args:
        folder: The model's folder.
        data: A file of data, or a folder of such files.
        settings: The settings.

    Raises:
        DataError: As :func:`prepare_huggingface`.
        ProgramError: As the same.
    """
    return finish(prepare_huggingface(folder, data, settings or FineTuning())).draft


def prepare_huggingface(
    folder: Path,
    data: Path,
    settings: FineTuning,
    cancel: CancelToken | None = None,
    *,
    evaluates: bool = False,
    weights: GivenWeights | None = None,
) -> Generator[Preparing, None, Prepared]:
    """Draft an order that fine-tunes a model of Hugging Face, or that says what it scores.

    Nothing is downloaded, and no code of the folder is run.

    Args:
        folder: The model's folder: ``config.json``, weights in safetensors, ``tokenizer.json``; what prepares images
            or sounds where it reads such.
        data: A file of data, or a folder of such files: JSON lines, Parquet, plain text; or images in a folder for each
            class.
        settings: The settings.
        cancel: Looked at while files are read and tokenised; interrupts the rest where it may.
        evaluates: Whether to order an evaluation of the model as it is; of the settings those of learning are without
            meaning then.
        weights: What takes the place of the folder's weights; the order names the file.

    Yields:
        How far it is.

    Raises:
        DataError: A library is not installed, or the folder, the data or the settings cannot be used.
        ProgramError: The model's step cannot be captured.
        CancelledError: ``cancel`` was set.
    """
    # What looks at least comes first, so that what cannot work is said at once.
    _check(settings)
    model_folder, files = read_folder(folder), data_files(data)
    library("transformers", "A model of Hugging Face")
    with offline(), cancel.at_once() if cancel is not None else nullcontext():
        config = load_config(model_folder)
    reads = _reads(model_folder, config)
    kinds = _ROWS.get(reads, WORDS)
    records = yield from run_stage("Reading", "files", read_records(files, settings.columns, cancel, kinds))
    task = settings.task or _task(records, config)
    records = _for_task(records, task, reads, data)
    sources = {
        "model": (yield from _source((*model_folder.weights, *model_folder.others), model_folder.revision, cancel)),
        "data": (yield from _source(files, None, cancel, _beside(records, data))),
    }
    if weights is not None:
        sources["weights"] = yield from _source((weights.file,), None, cancel)
    with offline(), cancel.at_once() if cancel is not None else nullcontext():
        tokenizer = None if reads == PIXELS else load_tokenizer(model_folder)
        prepares = load_preparation(model_folder, reads)
    with failing(model_folder, "the configuration"):
        labels = _labels(records, config, model_folder) if task is Task.CLASSIFICATION else []
        most = _most_tokens(settings, config, tokenizer)
    normal: Normalisation | None = None
    if reads == PIXELS:
        with failing(model_folder, "what prepares images"):
            looking = images(records.files, prepares, int(getattr(config, "num_channels", 3)), cancel)
            pixels, normal = yield from run_stage("Reading", "images", looking)
        rows = TokenRows({PIXELS: pixels, "labels": np.array(labels, np.int64)}, 0, 0)
    else:
        unit = "characters" if _joins(records, settings) else "rows"
        with failing(model_folder, "the tokenizer"):
            tokenising = _rows(records, labels, task, config, tokenizer, most, settings, cancel)
            rows = yield from run_stage("Tokenising", unit, tokenising)
    if reads == SOUND:
        with failing(model_folder, "what prepares sounds"):
            heard = yield from run_stage("Reading", "sounds", sounds(records.files, prepares, cancel))
        rows = replace(rows, data={**rows.data, SOUND: heard})
    objective = partial(_objective, normal=normal)
    yield CAPTURING
    with offline(), _seeded(settings.seed), cancel.at_once() if cancel is not None else nullcontext():
        model, new = load_model(model_folder, config, task, reads, tokenizer)
        with failing(model_folder, "the model"):
            _check_vocabulary(model, rows, model_folder)
            if settings.lora is not None:
                model = add_adapters(
                    model,
                    settings.lora,
                    task=_PEFT[task] if reads == TOKENS else None,
                    heads=_heads(model) if task is Task.CLASSIFICATION else (),
                    run=lambda whole: objective(whole, _first(rows)),
                )
            title = _title(model_folder, data, settings)
            if weights is not None:
                load_weights(model, weights)
            if evaluates:
                _check_whole(model_folder, new if weights is None else ())
                draft = _evaluation(model, rows, settings, task, normal, title).draft()
                notes: tuple[str, ...] = (f"{rows.count:,} rows of {_size(rows)}.",)
            else:
                job = _job(model, objective, rows, settings, title)
                draft, notes = order_custom(job), _notes(rows, new, job)
    draft = yield from draft.recomputing_in_stages(settings.recompute_activations, cancel)
    manifest = replace(draft.manifest, recipe=EVALUATION if evaluates else RECIPE, sources=sources)
    return Prepared(replace(draft, manifest=manifest), notes)


def _check(settings: FineTuning) -> None:
    unknown = set(settings.columns) - COLUMNS
    if unknown:
        raise DataError(
            f"The data are asked for {min(unknown)!r}, which no fine-tuning reads.",
            remedy=f"Name columns for {', '.join(sorted(COLUMNS))}, for instance text=content.",
        )
    for name in ("steps", "epochs", "batch_size", "length"):
        value = getattr(settings, name)
        if value is not None and value < 1:
            raise DataError(f"The setting {name} is {value}; it must be at least 1.")
    if settings.recompute_activations is not None:
        check_segments(settings.recompute_activations)
    if settings.warmup < 0 or not settings.clip_norm >= 0:
        raise DataError("The warm-up and the limit of the gradients' norm must not be negative.")


def _beside(records: Records, data: Path) -> dict[Path, str]:
    """The files of images or sounds, with the names that they have in the data's folder."""
    root = data if data.is_dir() else data.parent
    return {file: file.relative_to(root).as_posix() for file in sorted(set(records.files))}


def _source(
    files: tuple[Path, ...], revision: str | None, cancel: CancelToken | None, beside: Mapping[Path, str] | None = None
) -> Generator[Preparing, None, Source]:
    """Digest the files that a part of the order is made from; of those beside them only the list gets a place."""
    beside = beside or {}
    files = tuple(path for path in files if path not in beside)
    if len(files) > MAX_FILES:
        raise DataError(
            f"An order names at most {MAX_FILES} files; {files[0].parent} holds {len(files)}.",
            remedy="Join some of them.",
        )
    found: dict[str, SourceFile] = {}
    for number, path in enumerate(files):
        yield Preparing("Hashing", "files", number, len(files))
        try:
            found[check_source_text(path.name)] = SourceFile(path.stat().st_size, Digest.of_file(path, cancel))
        except OSError as error:
            raise DataError(f"The file {path} cannot be read: {error.strerror or error}.") from error
        except BundleError as error:
            raise DataError(
                f"The name of the file {str(path)!r} cannot stand in an order.", remedy="Give it a plain, shorter name."
            ) from error
    sums = []
    for number, (path, name) in enumerate(beside.items()):
        if number % _OFTEN == 0:
            yield Preparing("Hashing", "files", number, len(beside))
        try:
            sums.append(f"{Digest.of_file(path, cancel).hex}  {name}\n")
        except OSError as error:
            raise DataError(f"The file {path} cannot be read: {error.strerror or error}.") from error
    if sums:
        listed = "".join(sums).encode()
        found[SUMS] = SourceFile(len(listed), Digest.of(listed))
    return Source(found, revision)


def _reads(folder: ModelFolder, config: Any) -> str:
    """What the model reads, as transformers calls it."""
    transformers = library("transformers", "A model of Hugging Face")
    with failing(folder, "the configuration"):
        kinds = [getattr(transformers, name, None) for name in folder.architectures[:1]]
        kind = next((kind for kind in kinds if kind is not None), None)
        kind = kind or transformers.MODEL_MAPPING.get(type(config), None)
    reads = str(getattr(kind, "main_input_name", TOKENS))
    sees_and_writes = reads == PIXELS and config.is_encoder_decoder
    if reads not in (TOKENS, PIXELS, SOUND) or sees_and_writes:
        what = f"{reads!r} and writes texts" if sees_and_writes else repr(reads)
        raise DataError(
            f"The folder {folder.path} holds a {', '.join(folder.architectures) or type(config).__name__}, which reads "
            f"{what}; a fine-tuning has texts, images with labels, or speech with its words.",
            remedy="Write a job of your own with the arrays that the model reads (counterfoil order --from, "
            "docs/bring-your-own-model.md), or order the script that trains it (counterfoil order --script).",
        )
    return reads


def _task(records: Records, config: Any) -> Task:
    """What a model is trained for where nobody said it."""
    if records.kind in (RowKind.LABELLED, RowKind.IMAGE):
        return Task.CLASSIFICATION
    return Task.SEQ2SEQ if config.is_encoder_decoder else Task.CAUSAL_LM


def _for_task(records: Records, task: Task, reads: str, data: Path) -> Records:
    if reads != TOKENS:
        wanted, only = (RowKind.IMAGE, Task.CLASSIFICATION) if reads == PIXELS else (RowKind.SPEECH, Task.SEQ2SEQ)
        if records.kind is not wanted or task is not only:
            raise DataError(
                f"The model reads {reads!r}, and learns {only.value} from rows of {wanted.value}; the data {data} "
                f"are of {records.kind.value}, to be learned as {task.value}.",
                remedy="Name data with such rows, or another model.",
            )
        return records
    if task is Task.SEQ2SEQ and records.kind is not RowKind.PAIR:
        raise DataError(
            f"The model writes one text for another; the data {data} are of {records.kind.value}.",
            remedy="Give rows with 'prompt' and 'completion', or name the columns with --columns.",
        )
    if task is Task.CLASSIFICATION:
        if records.kind is not RowKind.LABELLED:
            raise DataError(
                f"The data {data} have no labels to classify by.",
                remedy="Give rows with 'text' and 'label', or name the columns with --columns label=NAME.",
            )
        return records
    return Records(RowKind.TEXT, records.texts, []) if records.kind is RowKind.LABELLED else records


def _labels(records: Records, config: Any, folder: ModelFolder) -> list[int]:
    """Number the labels, and tell the configuration of them where the model has no classes of its own yet."""
    classifies = any(name.endswith(_CLASSIFIERS) for name in folder.architectures)
    given = records.seconds
    texts = any(isinstance(label, str) for label in given)
    if texts and classifies:
        known = {str(name): int(number) for name, number in config.label2id.items()}
    elif texts:
        known = {name: number for number, name in enumerate(sorted({str(label) for label in given}))}
        config.num_labels = len(known)
        config.label2id, config.id2label = known, {number: name for name, number in known.items()}
    else:
        if not classifies:
            config.num_labels = max(2, 1 + max(int(label) for label in given))
        known = {str(number): number for number in range(config.num_labels)}
    for row, label in enumerate(given, start=1):
        if str(label) not in known:
            raise DataError(
                f"The label {label!r} of row {row} is none of the model's {len(known)}: {', '.join(list(known)[:8])}.",
                remedy="Number the labels from 0, or give the names that the model's config.json lists.",
            )
    config.problem_type = "single_label_classification"
    return [known[str(label)] for label in given]


def _most_tokens(settings: FineTuning, config: Any, tokenizer: Any) -> int:
    """The most tokens of a row."""
    context = [getattr(config, name, None) for name in ("max_position_embeddings", "max_target_positions")]
    known = [*context, getattr(tokenizer, "model_max_length", None)]
    limits = [value for value in known if isinstance(value, int) and value < _UNLIMITED]
    most = min(limits, default=_UNLIMITED)
    if settings.length is None:
        return min(most, DEFAULT_LENGTH)
    if settings.length > most:
        raise DataError(
            f"The model sees at most {most} tokens at once; rows of {settings.length} do not fit.",
            remedy=f"Choose a length of at most {most}.",
        )
    return settings.length


def _joins(records: Records, settings: FineTuning) -> bool:
    """Whether texts are joined to full rows."""
    return records.kind is RowKind.DOCUMENT or (settings.pack and records.kind is RowKind.TEXT)


def _rows(
    records: Records,
    labels: list[int],
    task: Task,
    config: Any,
    tokenizer: Any,
    most: int,
    settings: FineTuning,
    cancel: CancelToken | None,
) -> Generator[tuple[int, int], None, TokenRows]:
    if labels:
        return classification_row(records, labels, tokenizer, most, cancel)
    if task is Task.SEQ2SEQ:
        return translation_row(records, tokenizer, most, config.decoder_start_token_id, cancel)
    if _joins(records, settings):
        return pack_rows(records, tokenizer, most, cancel)
    if settings.pack:
        raise DataError(
            "Pairs of prompt and completion cannot be packed: rows would mix what is learned of several.",
            remedy="Leave --pack out.",
        )
    return causal(records, tokenizer, most, cancel)


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Let torch draw weights that are new from the seed, and leave its generator as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def _check_vocabulary(model: Any, rows: TokenRows, folder: ModelFolder) -> None:
    tokens = [rows.data[name] for name in (TOKENS, "labels") if rows.data.get(name, np.zeros(0)).ndim == 2]
    if not tokens:
        return
    largest = max(int(array.max()) for array in tokens)
    known = int(getattr(model.get_input_embeddings(), "num_embeddings", model.config.vocab_size))
    if largest >= known:
        raise DataError(
            f"The tokenizer in {folder.path} gives the token {largest}; the model knows {known}.",
            remedy="Take the tokenizer that belongs to the model.",
        )


def _objective(model: nn.Module, batch: Mapping[str, Tensor], normal: Normalisation | None = None) -> Tensor:
    """The model's own loss; without labels of their own the tokens are the labels."""
    given = _given(batch, normal)
    loss: Tensor = model(**{"labels": given.get(TOKENS), **given}, return_dict=True).loss
    return loss


def _given(batch: Mapping[str, Tensor], normal: Normalisation | None) -> dict[str, Tensor]:
    return {
        name: normal(rows) if normal and name == PIXELS else rows if name == SOUND else rows.to(torch.int64)
        for name, rows in batch.items()
    }


def _counts(
    model: nn.Module, batch: Mapping[str, Tensor], task: Task, normal: Normalisation | None
) -> Mapping[str, Tensor]:
    """What counts of a batch: labels of a classifier; else tokens, of those before them or, with a decoder, beside."""
    given = _given(batch, normal)
    labels = given.get("labels", given.get(TOKENS))
    assert labels is not None
    if task is Task.CLASSIFICATION:
        inputs = {name: rows for name, rows in given.items() if name != "labels"}
        return classification_counts(model(**inputs, return_dict=True).logits, labels)
    logits = model(**{**given, "labels": labels}, return_dict=True).logits
    if task is Task.CAUSAL_LM:
        return token_counts(logits, labels)
    return answer_counts(logits.flatten(0, 1), labels.flatten())


def _evaluation(
    model: nn.Module, rows: TokenRows, settings: FineTuning, task: Task, normal: Normalisation | None, title: str
) -> Evaluation:
    return Evaluation(
        title=title,
        model=model,
        counts=partial(_counts, task=task, normal=normal),
        data=rows.data,
        batch_size=min(settings.batch_size, rows.count),
        seed=settings.seed,
        precision=settings.precision,
        commit_every=settings.commit_every,
        checkpoint_every=settings.checkpoint_every or None,
    )


def _check_whole(folder: ModelFolder, new: tuple[str, ...]) -> None:
    """Refuse to score what the folder does not hold; raises DataError."""
    if new:
        raise DataError(
            f"The weights in {folder.path} lack {new[0]!r}, which the model of this task has.",
            remedy="Choose the --task that the model was trained for: what was drawn at random scores nothing.",
        )


def _first(rows: TokenRows) -> dict[str, Tensor]:
    """The first row, of which a few tokens are enough to see what a model calls."""
    return {
        name: torch.from_numpy(array[:1, :_FEW] if array.ndim == 2 else array[:1]) for name, array in rows.data.items()
    }


def _heads(model: Any) -> list[str]:
    """What a classifier has beside its body, which is there to be learned anew."""
    return [
        name
        for name, part in model.named_children()
        if part is not model.base_model and any(True for _ in part.parameters())
    ]


def _job(model: nn.Module, objective: Objective, rows: TokenRows, settings: FineTuning, title: str) -> CustomJob:
    count = rows.count
    if count < settings.batch_size:
        raise DataError(
            f"The data give {count} rows{f' of {rows.length} tokens' if rows.length else ''}, too few for a batch of "
            f"{settings.batch_size}.",
            remedy="Choose a smaller batch, shorter rows, or more data.",
        )
    steps = settings.steps or count // settings.batch_size * settings.epochs
    default = DEFAULT_RATE if settings.lora is None else DEFAULT_ADAPTER_RATE
    rate = default if settings.learning_rate is None else settings.learning_rate
    decaying = frozenset(name for name, weight in model.named_parameters() if weight.dim() >= 2)
    return CustomJob(
        title=title,
        model=model,
        objective=objective,
        rule=AdamW(
            weight_decay=settings.weight_decay, decays=decaying.__contains__, clip_norm=settings.clip_norm or None
        ),
        data=rows.data,
        steps=steps,
        batch_size=settings.batch_size,
        learning_rate=_RATES[settings.scheduler](rate, steps, settings.warmup),
        seed=settings.seed,
        micro_batches=settings.micro_batches,
        shares=settings.shares,
        buffers=settings.buffers,
        aggregate=settings.aggregate,
        faulty=settings.faulty,
        worker_momentum=settings.worker_momentum,
        precision=settings.precision,
        commit_every=settings.commit_every,
        checkpoint_every=settings.checkpoint_every,
    )


def _title(folder: ModelFolder, data: Path, settings: FineTuning) -> str:
    adapters = "" if settings.lora is None else f", adapters of rank {settings.lora.r}"
    names = ", ".join(folder.architectures) or "model"
    return f"{names} from {folder.path.absolute().name} on {data.absolute().name}{adapters}"


def _notes(rows: TokenRows, new: tuple[str, ...], job: CustomJob) -> tuple[str, ...]:
    learning = sum(p.numel() for p in job.model.parameters() if p.requires_grad)
    frozen = sum(p.numel() for p in job.model.parameters() if not p.requires_grad)
    notes = [
        f"{rows.count:,} rows of {_size(rows)}.",
        f"{learning:,} weights learn" + (f", {frozen:,} stay as they are." if frozen else "."),
    ]
    if places := adapter_places(job.model):
        notes.append(f"Adapters lie at {', '.join(places)}.")
    if rows.cut:
        notes.append(f"{rows.cut:,} rows were longer, and are cut; --length allows more.")
    if rows.left_out:
        notes.append(f"{rows.left_out:,} rows are left out: nothing to learn is left of them.")
    if new:
        notes.append(f"New, and drawn from the seed: {', '.join(new[:4])}{', ...' if len(new) > 4 else ''}.")
    return tuple(notes)


def _size(rows: TokenRows) -> str:
    """What a row is, and how many tokens there are in all."""
    array = next((rows.data[name] for name in (PIXELS, SOUND) if name in rows.data), None)
    tokens = f"{rows.length} tokens; {rows.tokens:,} tokens without padding"
    if array is None:
        return tokens
    shape = " x ".join(map(str, array.shape[1:]))
    return f"{shape} pixels" if PIXELS in rows.data else f"{shape} features and {tokens}"
