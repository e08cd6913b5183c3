"""A model's folder as ``save_pretrained`` writes it: what is in it, and what of it is used. Runs no code of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from counterfoil.training.huggingface.sizes import check_sizes
from counterfoil_core.base import canonical
from counterfoil_core.base.canonical import CanonicalError
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.inputs import open_input, read_input

CONFIG = "config.json"
TOKENIZER = "tokenizer.json"
_WEIGHTS = "model.safetensors"
_INDEX = "model.safetensors.index.json"
_BESIDE_TOKENIZER = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")
_PREPARATION = ("preprocessor_config.json", "processor_config.json")
"""How pictures or sounds are prepared for the model."""
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
_NO_WEIGHTS = frozenset({"training_args.bin", "optimizer.pt", "scheduler.pt"})
"""What a Trainer leaves beside the weights."""
_WIDER = {"F64": "float64", "F8_E4M3": "float8", "F8_E5M2": "float8"}
_MAX_JSON_BYTES = 64 * 2**20
_COMMIT = re.compile("[0-9a-f]{40}")


@dataclass(frozen=True)
class ModelFolder:
    """What lies in a model's folder."""

    path: Path  #: The folder.
    config: Mapping[str, Any]  #: What its ``config.json`` says.
    weights: tuple[Path, ...]  #: The files of the weights, in safetensors.
    #: The other files that are read: configuration, tokenizer, and how pictures or sounds are prepared.
    others: tuple[Path, ...]
    revision: str | None  #: The commit of the repository that it was downloaded or cloned from, if it knows that.

    @property
    def architectures(self) -> tuple[str, ...]:
        """The classes that the weights were saved from, by name."""
        found = self.config.get("architectures")
        return tuple(map(str, found)) if isinstance(found, list) else ()


def read_folder(path: Path) -> ModelFolder:
    """Look at a model's folder.

    Raises:
        DataError: It is no such folder, its weights are pickles or of a dtype that float32 cannot hold, its
            configuration asks for more than they are, or it has neither ``tokenizer.json`` nor a file that says how
            pictures are prepared.
    """
    if not path.is_dir():
        raise DataError(
            f"There is no folder {path}.",
            remedy="Nothing is downloaded: get the model first, for instance with 'hf download NAME --local-dir "
            "FOLDER', and name its folder.",
        )
    if not (path / CONFIG).exists():
        raise DataError(f"The folder {path} has no {CONFIG}.", remedy=_what_it_is_instead(path))
    config = _json(path / CONFIG)
    if "quantization_config" in config:
        raise DataError(
            f"The model in {path} is quantised; its weights are no float32 numbers.",
            remedy="Take the model that it was made from.",
        )
    weights = _weights(path)
    for file in weights:
        _check_dtypes(file)
    check_sizes(config, weights)
    prepares = [path / name for name in _PREPARATION if (path / name).exists()]
    if not (path / TOKENIZER).exists() and not prepares:
        raise DataError(
            f"The folder {path} has no {TOKENIZER}.",
            remedy="Make one with transformers: AutoTokenizer.from_pretrained(folder).save_pretrained(folder). Of a "
            f"model of images it is AutoImageProcessor, which writes {_PREPARATION[0]}.",
        )
    words = [path / name for name in (TOKENIZER, *_BESIDE_TOKENIZER) if (path / name).exists()]
    return ModelFolder(path, config, weights, (path / CONFIG, *words, *prepares), _revision(path))


def _what_it_is_instead(path: Path) -> str:
    if (path / "adapter_config.json").exists():
        return "It holds an adapter; save it merged into its model, with merge_and_unload() and save_pretrained()."
    return "Name a folder that save_pretrained() of a transformers model wrote, or a downloaded one."


def _json(path: Path) -> dict[str, Any]:
    data = read_input(path, "a JSON file", DataError, most=_MAX_JSON_BYTES)
    try:
        value = canonical.parse(data)
    except CanonicalError as error:
        raise DataError(f"{path} is not JSON.", remedy="Get the file again.", detail=str(error)) from error
    if not isinstance(value, dict):
        raise DataError(f"{path} holds no JSON object.", remedy="Get the file again.")
    return value


def _weights(path: Path) -> tuple[Path, ...]:
    if (path / _WEIGHTS).exists():
        return (path / _WEIGHTS,)
    if (path / _INDEX).exists():
        listed = _json(path / _INDEX).get("weight_map")
        names = sorted({str(name) for name in listed.values()}) if isinstance(listed, dict) else []
        if not names or any(Path(name).name != name for name in names):
            raise DataError(f"{path / _INDEX} does not list files of the folder.", remedy="Get the file again.")
        return (path / _INDEX, *(path / name for name in names))
    pickles = sorted(file.name for kind in _PICKLES for file in path.glob(kind) if file.name not in _NO_WEIGHTS)
    if pickles:
        raise DataError(
            f"The folder {path} holds its weights as a pickle, {pickles[0]}, which can run code and is not read.",
            remedy="Save them as safetensors where you trust the file: load the model with transformers and call "
            "save_pretrained(folder, safe_serialization=True).",
        )
    raise DataError(f"The folder {path} has no weights: no file {_WEIGHTS}.", remedy="Get the whole folder.")


def _check_dtypes(path: Path) -> None:
    """Check that float32 holds every number of a file of weights."""
    open_input(path, "a safetensors file", DataError).close()  # the library would wait for ever for a pipe
    if path.name == _INDEX:
        return
    try:
        with safe_open(path, framework="pt") as file:
            for name in file.keys():  # noqa: SIM118 - not a mapping
                dtype = file.get_slice(name).get_dtype()
                if dtype in _WIDER:
                    raise DataError(
                        f"The tensor {name!r} in {path} is {_WIDER[dtype]}, with which nothing can be ordered.",
                        remedy="Save the weights as float32.",
                    )
    except SafetensorError as error:
        raise DataError(
            f"The file {path} is not a safetensors file, or it is damaged.",
            remedy="Get the file again.",
            detail=str(error),
        ) from error


def _revision(path: Path) -> str | None:
    """The commit that the folder was made from: its name in the cache, a note of the downloader, or git's head."""
    whole = path.absolute()
    if whole.parent.name == "snapshots" and _COMMIT.fullmatch(whole.name):
        return whole.name
    notes = sorted((path / ".cache" / "huggingface" / "download").glob("*.metadata"))
    commits = {_first_line(note) for note in notes}
    if len(commits) == 1:
        return _commit(commits.pop())
    git = path / ".git"
    head = _first_line(git / "HEAD")
    if not head.startswith("ref: refs/"):
        return _commit(head)
    reference = head.removeprefix("ref: ")
    if ".." in reference:
        return None
    packed = _text(git / "packed-refs").splitlines()
    found = [line.partition(" ")[0] for line in packed if line.endswith(f" {reference}")]
    return _commit(_first_line(git / reference)) or _commit("".join(found[:1]))


def _commit(text: str) -> str | None:
    return text if _COMMIT.fullmatch(text) else None


def _first_line(path: Path) -> str:
    return _text(path).partition("\n")[0].strip()


def _text(path: Path) -> str:
    """A small text file, or nothing where there is none: what it says is a courtesy."""
    try:
        return read_input(path, "a note", DataError, most=2**20).decode("utf-8", "replace")
    except DataError:
        return ""
