"""GPT-2: the same function as the reference's, public weights, tokenizer files, record and replay, bad input."""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.nn import functional

from counterfoil.program.capture import capture
from counterfoil.program.update import AdamW
from counterfoil.training.recipes import gpt2
from counterfoil.training.recipes.gpt2 import PREFIX, SIZES, Gpt2, Gpt2Size, initialise, order_gpt2, start_from
from counterfoil.training.tokens import Tokens, tokenize
from counterfoil.training.weights import read_weights
from counterfoil_core.arithmetic.admission import check_types
from counterfoil_core.base.errors import DataError
from counterfoil_core.operators.node import TensorType
from counterfoil_core.program.limits import MAX_OPERATORS
from counterfoil_core.values.outcome import Outcome
from support.jobs import TEXT, audited, record_job

tokenizers = pytest.importorskip("tokenizers", reason="the library tokenizers is not installed")

SIZE = Gpt2Size(layers=2, heads=2, width=8, context=16, vocabulary=256, dropout=0.1)
WORDS = ["[UNK]", "all", "work", "and", "no", "play", "makes", "a", "dull", "trainer"]
SENTENCE = b"all work and no play makes a dull trainer\n"


def made(size: Gpt2Size = SIZE, seed: int = 1) -> Gpt2:
    model = Gpt2(size)
    initialise(model, size.layers, seed)
    with torch.no_grad():  # biases too, so that none can be forgotten
        for number, parameter in enumerate(model.parameters()):
            if parameter.dim() == 1:
                parameter += torch.linspace(-0.1, 0.1 + number * 1e-3, parameter.numel())
    return model


def tensors_of(model: Gpt2) -> dict[str, Tensor]:
    return {name: parameter.detach().clone() for name, parameter in model.named_parameters()}


def loaded(path: Path, size: Gpt2Size = SIZE) -> Gpt2:
    model = Gpt2(size)
    start_from(model, read_weights(path, prefix=PREFIX))
    return model


# The reference.


@pytest.fixture(scope="module")
def reference() -> Any:
    transformers = pytest.importorskip("transformers", reason="the library transformers is not installed")
    config = transformers.GPT2Config(
        vocab_size=256, n_positions=16, n_embd=8, n_layer=2, n_head=2, embd_pdrop=0, attn_pdrop=0, resid_pdrop=0
    )
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    model = transformers.GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():  # as it comes most are zero, or near zero
            parameter += torch.randn(parameter.shape) * 0.3
    return model


def logits_and_gradients(model: torch.nn.Module, call: Callable[[Tensor], Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
    tokens = torch.from_numpy(np.random.default_rng(2).integers(0, 256, (3, 12)))
    logits = call(tokens[:, :-1])
    functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten()).backward()
    gradients = {name.removeprefix(PREFIX): p.grad for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()
    return logits.detach(), gradients


def test_logits_and_gradients_are_those_of_the_reference_within_float64_rounding(reference, tmp_path):
    reference.save_pretrained(tmp_path)
    ours = loaded(tmp_path / "model.safetensors").eval().double()
    theirs = copy.deepcopy(reference).double()
    our_logits, our_gradients = logits_and_gradients(ours, ours)
    their_logits, their_gradients = logits_and_gradients(theirs, lambda tokens: theirs(tokens).logits)
    assert torch.allclose(our_logits, their_logits, rtol=1e-12, atol=1e-12)
    assert set(our_gradients) == set(their_gradients) == set(dict(ours.named_parameters()))
    for name, gradient in our_gradients.items():
        assert torch.allclose(gradient, their_gradients[name], rtol=1e-11, atol=1e-13), name
        assert gradient.any(), name


def test_control_another_gelu_is_told_from_the_references(reference, tmp_path, monkeypatch):
    reference.save_pretrained(tmp_path)
    ours = loaded(tmp_path / "model.safetensors").eval().double()
    exact = functional.gelu
    monkeypatch.setattr(gpt2.functional, "gelu", lambda x, approximate: exact(x))
    our_logits, _ = logits_and_gradients(ours, ours)
    theirs = copy.deepcopy(reference).double()
    their_logits, _ = logits_and_gradients(theirs, lambda tokens: theirs(tokens).logits)
    assert not torch.allclose(our_logits, their_logits, rtol=1e-7, atol=1e-7)


# Files of weights.


def plain(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return tensors


def prefixed(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {PREFIX + name: tensor for name, tensor in tensors.items()}


def with_buffers(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    masks = {f"h.{layer}.attn.bias": torch.ones(1, 1, 16, 16).tril() for layer in range(2)}
    masked = {f"h.{layer}.attn.masked_bias": torch.tensor(-1e4) for layer in range(2)}
    integers = {"h.0.attn.bias": torch.ones(1, 1, 16, 16, dtype=torch.uint8)}
    return tensors | masks | masked | integers | {"lm_head.weight": tensors["wte.weight"].clone()}


@pytest.mark.parametrize("form", [plain, prefixed, with_buffers, lambda tensors: prefixed(with_buffers(tensors))])
def test_public_weights_in_every_form(tmp_path, form):
    model = made()
    save_file(form(tensors_of(model)), tmp_path / "model.safetensors")
    for name, parameter in loaded(tmp_path / "model.safetensors").named_parameters():
        assert torch.equal(parameter, model.get_parameter(name)), name


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_narrower_weights_are_widened_exactly(tmp_path, dtype):
    tensors = {name: tensor.to(dtype) for name, tensor in tensors_of(made()).items()}
    save_file(tensors, tmp_path / "w.safetensors")
    for name, parameter in loaded(tmp_path / "w.safetensors").named_parameters():
        assert parameter.dtype == torch.float32
        assert torch.equal(parameter, tensors[name].float())


def without(name: str) -> Callable[[dict[str, Tensor]], dict[str, Tensor]]:
    return lambda tensors: {key: tensor for key, tensor in tensors.items() if key != name}


def put(name: str, change: Callable[[Tensor], Tensor]) -> Callable[[dict[str, Tensor]], dict[str, Tensor]]:
    return lambda tensors: tensors | {name: change(tensors["wte.weight"])}


BAD_WEIGHTS: dict[str, tuple[Callable[[dict[str, Tensor]], dict[str, Tensor]], list[str]]] = {
    "a tensor is missing": (without("h.1.mlp.c_fc.bias"), ["no tensor 'h.1.mlp.c_fc.bias'"]),
    "nothing": (lambda tensors: {}, ["no tensor 'h.0.attn.c_attn.bias' and 27 more"]),
    "another layer": (put("h.2.ln_1.weight", lambda t: t[0].clone()), ["lacks: 'h.2.ln_1.weight'"]),
    "another vocabulary": (put("wte.weight", lambda t: t[:-1].clone()), ["'wte.weight'", "(255, 8)", "(256, 8)"]),
    "transposed": (put("h.0.mlp.c_fc.weight", lambda t: torch.zeros(32, 8)), ["(32, 8)", "(8, 32)"]),
    "not a number": (put("h.0.ln_1.bias", lambda t: torch.full((8,), torch.nan)), ["'h.0.ln_1.bias'", "not a number"]),
    "float64": (put("wpe.weight", lambda t: torch.zeros(16, 8).double()), ["'wpe.weight'", "float64"]),
    "integers": (put("wpe.weight", lambda t: torch.zeros(16, 8).int()), ["no tensor 'wpe.weight'"]),
    "an output of its own": (put("lm_head.weight", lambda t: t + 1), ["output projection of its own"]),
    "both names": (put(PREFIX + "wte.weight", lambda t: t.clone()), ["both with and without 'transformer.'"]),
}


@pytest.mark.parametrize("name", BAD_WEIGHTS)
def test_weights_that_do_not_fit_are_a_sentence(tmp_path, name):
    change, words = BAD_WEIGHTS[name]
    path = tmp_path / "model.safetensors"
    save_file(change(tensors_of(made())), path)
    with pytest.raises(DataError) as caught:
        loaded(path)
    assert all(word in caught.value.sentence for word in words), caught.value.sentence
    assert str(path) in caught.value.sentence


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda path: None, "There is no file"),
        (lambda path: path.mkdir(), "is a folder"),
        (lambda path: path.write_bytes(b""), "not a safetensors file"),
        (lambda path: path.write_bytes(b"PK\x03\x04" + bytes(99)), "not a safetensors file"),
        (lambda path: path.write_bytes((2**63).to_bytes(8, "little") + b"{}"), "not a safetensors file"),
    ],
)
def test_a_file_that_is_none_of_weights_is_a_sentence(tmp_path, write, words):
    path = tmp_path / "model.safetensors"
    write(path)
    with pytest.raises(DataError, match=words) as caught:
        read_weights(path)
    assert str(path) in caught.value.sentence


def test_a_truncated_file_of_weights_is_a_sentence(tmp_path):
    path = tmp_path / "model.safetensors"
    save_file(tensors_of(made()), path)
    whole = path.read_bytes()
    for length in (7, 8, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(DataError, match="not a safetensors file"):
            read_weights(path)


# Tokenizer files.


def tokenizer_of(path: Path, words: list[str] = WORDS, **changes: Any) -> Path:
    model = tokenizers.models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    if "truncation" in changes:
        tokenizer.enable_truncation(changes["truncation"])
    if "special" in changes:
        tokenizer.add_special_tokens([changes["special"]])
    tokenizer.save(str(path))
    return path


def test_a_text_in_tokens(tmp_path):
    path = tokenizer_of(tmp_path / "tokenizer.json")
    tokens = tokenize(SENTENCE + b"elephant dull", path)
    assert tokens.numbers.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 8]
    assert tokens.numbers.dtype == np.int32
    assert tokens.vocabulary == 10


def test_a_tokenizer_for_short_texts_does_not_cut_a_long_one_and_its_own_tokens_count(tmp_path):
    path = tokenizer_of(tmp_path / "tokenizer.json", truncation=4, special="<|endoftext|>")
    tokens = tokenize(SENTENCE * 50, path)
    assert len(tokens.numbers) == 450
    assert tokens.vocabulary == 11


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda path: None, "There is no file"),
        (lambda path: path.mkdir(), "is a folder"),
        (lambda path: path.write_bytes(b""), "cannot be used"),
        (lambda path: path.write_bytes(b"\xff\xfe\x00"), "not a text file"),
        (lambda path: path.write_text("{}"), "cannot be used"),
        (lambda path: path.write_text(json.dumps({"model": {"type": "BPE", "vocab": 3}})), "cannot be used"),
    ],
)
def test_a_wrong_tokenizer_file_is_a_sentence(tmp_path, write, words):
    path = tmp_path / "tokenizer.json"
    write(path)
    with pytest.raises(DataError, match=words) as caught:
        tokenize(SENTENCE, path)
    assert str(path) in caught.value.sentence


def test_a_text_that_is_not_utf8_is_a_sentence(tmp_path):
    with pytest.raises(DataError, match="byte 3 cannot"):
        tokenize(b"all\xff", tokenizer_of(tmp_path / "tokenizer.json"))


def test_without_the_library_the_remedy_says_how_to_get_it(tmp_path, monkeypatch):
    path = tokenizer_of(tmp_path / "tokenizer.json")
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(DataError, match="not installed") as caught:
        tokenize(SENTENCE, path)
    assert "counterfoil[text]" in caught.value.remedy


# Orders.


def test_training_on_tokens_from_public_weights_is_replayed_bit_for_bit(tmp_path, trainer_key):
    size = replace(SIZE, vocabulary=len(WORDS))
    save_file(prefixed(tensors_of(made(size))), tmp_path / "model.safetensors")
    weights = read_weights(tmp_path / "model.safetensors", prefix=PREFIX)
    tokens = tokenize(SENTENCE * 40, tokenizer_of(tmp_path / "tokenizer.json"))
    draft = order_gpt2(tokens, size=size, sequence=7, weights=weights, steps=3, batch_size=4, warmup=1)
    assert draft.data["tokens"].shape == (45, 8)
    assert draft.data["tokens"].dtype == np.int32
    assert "model.safetensors" in draft.manifest.title
    assert np.array_equal(draft.initial["wpe.weight"], weights.tensors["wpe.weight"].numpy())
    job = record_job(tmp_path, draft, trainer_key)
    for perturbation in ("reversed", "split"):
        report = audited(job.run, job.order, perturbation=perturbation).report
        assert report.outcome is Outcome.VERIFIED, report.reason
        assert (report.contradictions, report.omissions) == (0, 0)


@pytest.mark.slow
def test_the_public_size_has_124_million_parameters_and_is_captured():
    size = SIZES["124M"]
    with torch.device("meta"):
        model = Gpt2(size)
    assert sum(parameter.numel() for parameter in model.parameters()) == 124_439_808
    # Its blocks are all alike: one and two of them, at full width, tell what each adds.
    operators = []
    for layers in (1, 2):
        with torch.device("meta"):
            model = Gpt2(replace(size, layers=layers))
        model.to_empty(device="cpu")  # memory that nothing touches
        program = capture(model, gpt2.objective, AdamW(clip_norm=1.0), {"tokens": TensorType("int32", (8, 65))}).program
        check_types(program, "float64")
        draws = [node for node in program.nodes if node.operator == "counterfoil.uniform"]
        assert len(draws) == 1 + 3 * layers  # embeddings; attention, its output and the feed-forward's in each block
        operators.append(len(program.nodes))
    of_a_block = operators[1] - operators[0]
    assert operators[0] + (size.layers - 1) * of_a_block < MAX_OPERATORS


def tokens(numbers: Any, vocabulary: int = 256) -> Tokens:
    return Tokens(np.array(numbers, np.int32), vocabulary, Path("tokenizer.json"))


@pytest.mark.parametrize(
    ("text", "settings", "words"),
    [
        (tokens([1] * 500, 300), {}, ["tokenizer.json", "vocabulary of 300", "256"]),
        (tokens([1] * 500, 10), {}, ["tokenizer.json", "vocabulary of 10", "256"]),
        (tokens([256] * 500), {}, ["outside 0 to 255"]),
        (tokens([-1] * 500), {}, ["outside 0 to 255"]),
        (tokens([]), {}, ["0 tokens"]),
        (b"", {}, ["0 bytes"]),
        (TEXT, {"size": SIZES["124M"]}, ["bytes", "256", "50257"]),
        (TEXT, {"sequence": 17}, ["context of 16", "sequences of 17"]),
        (TEXT, {"sequence": 0}, ["sequences of 0"]),
        (TEXT[:67], {}, ["67 bytes", "68"]),
    ],
)
def test_bad_input_is_a_sentence(text, settings, words):
    with pytest.raises(DataError) as caught:
        order_gpt2(text, **({"size": SIZE, "batch_size": 4} | settings))
    assert all(word in caught.value.sentence for word in words), caught.value.sentence
