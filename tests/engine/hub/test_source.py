"""A model's folder may be a stranger's: what is taken of it is known by name, small, and no link; nothing is run."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from counterfoil.hub.source import MAX_BYTES, WRITTEN, read_source
from counterfoil_core.base.errors import DataError

CONFIG: dict[str, Any] = {"model_type": "gpt2", "layer_norm_epsilon": 1e-05, "big": 10**30}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "model"
    made.mkdir()
    (made / "config.json").write_text(json.dumps(CONFIG))
    (made / "tokenizer.json").write_text("{}")
    return made


def refused(folder: Path, *include: str) -> str:
    with pytest.raises(DataError) as caught:
        read_source(folder, include)
    return str(caught.value)


def test_files_of_known_names_are_copied_byte_for_byte(folder: Path) -> None:
    data = {"merges.txt": b"a b\r\n", "tokenizer.model": b"\x00\xff", "LICENSE": b"terms", "chat_template.jinja": b"{}"}
    settings = b'{ "model_max_length": 1000000000000000019884624838656,\n"a": 1e-05 }'
    for name, content in {**data, "tokenizer_config.json": settings}.items():
        (folder / name).write_bytes(content)
    source = read_source(folder)
    assert source.files == {**data, "tokenizer_config.json": settings, "tokenizer.json": b"{}"}
    assert (dict(source.config), source.changed, source.left_out) == (CONFIG, frozenset(), ())


def test_nothing_else_is_copied_unless_it_is_named(folder: Path, tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "sprung",))

    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Trap()))
    (folder / "training_args.pt").write_bytes(pickle.dumps(Trap()))
    (folder / "modeling_own.py").write_text("raise SystemExit('code of the folder ran')")
    (folder / "model.safetensors").write_bytes(b"nothing")
    (folder / "README.md").write_text("Verified by everybody")
    (folder / "figure.png").write_bytes(b"picture")
    (folder / "deeper").mkdir()
    left = ("README.md", "deeper", "figure.png", "model.safetensors", "modeling_own.py", "pytorch_model.bin")
    source = read_source(folder)
    assert (set(source.files), source.left_out) == ({"tokenizer.json"}, (*left, "training_args.pt"))
    assert read_source(folder, ["figure.png"]).files["figure.png"] == b"picture"
    for name in ("pytorch_model.bin", "training_args.pt", "model.safetensors", "weights.GGUF", *WRITTEN, "Readme.MD"):
        assert "is not copied" in refused(folder, name), name
    assert "a folder, where a file" in refused(folder, "deeper")
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("name", ["../secret", "..", ".", "", "/etc/passwd", "deeper/file", "a\\b", "C:x", "a\nb"])
def test_a_name_that_is_a_path_is_refused(name: str, folder: Path) -> None:
    (folder.parent / "secret").write_text("secret")
    assert "without a folder" in refused(folder, name)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "LICENSE", "notes.txt"])
def test_a_link_is_not_followed(name: str, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("{}")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(tmp_path / "secret")
    assert "links are not followed" in refused(folder, *(["notes.txt"] if name == "notes.txt" else []))


def test_a_file_that_is_too_large_or_none_is_not_read(folder: Path) -> None:
    with open(folder / "vocab.txt", "wb") as file:
        file.truncate(MAX_BYTES + 1)
    assert "too large" in refused(folder)
    (folder / "vocab.txt").unlink()
    os.mkfifo(folder / "vocab.txt")
    assert "a pipe" in refused(folder)


def test_settings_that_name_code_are_copied_without_it(folder: Path) -> None:
    code = {"auto_map": {"AutoModel": "somebody/else--own.Model"}}
    (folder / "config.json").write_text(json.dumps({**CONFIG, **code, "text_config": {"a": 1, **code}}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 8, **code}))
    source = read_source(folder)
    assert source.config == {**CONFIG, "text_config": {"a": 1}}
    assert json.loads(source.files["tokenizer_config.json"]) == {"model_max_length": 8}
    assert source.changed == {"tokenizer_config.json"}


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"{", "is not JSON"), (b"[]", "no JSON object"), (b'{"a": 1, "a": 2}', "is not JSON"), (b"[" * 200, "not JSON")],
)  # fmt: skip
def test_a_configuration_that_is_none_is_a_sentence(content: bytes, said: str, folder: Path) -> None:
    (folder / "config.json").write_bytes(content)
    assert said in refused(folder)
    (folder / "config.json").unlink()
    assert "has no config.json" in refused(folder)
    assert "cannot be read" in refused(folder / "nowhere")
