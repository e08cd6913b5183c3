"""``order hf`` on models that write one text for another, see, or hear; beside the same loss by transformers itself."""

from __future__ import annotations

import json
import wave
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from counterfoil.training.huggingface import FineTuning, Lora, Task, order_huggingface, prepare_huggingface
from counterfoil.training.huggingface.rows import IGNORED
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.generators import finish
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.values.outcome import Outcome
from support import small_models
from support.bundles import test_key
from support.jobs import audited, record_job

transformers = pytest.importorskip("transformers", reason="the library transformers is not installed")

PAIRS = [
    {"prompt": text[:12], "completion": text[12 : 20 + 4 * row]} for row, text in enumerate(small_models.SENTENCES)
]
QUICK = FineTuning(steps=2, batch_size=4, checkpoint_every=2)
ATTENDING = {"encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2}
BART = {**ATTENDING, "d_model": 16, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "dropout": 0.0, "init_std": 0.5}
WRITERS: dict[str, dict[str, Any]] = {
    "T5": {"d_model": 16, "d_ff": 24, "d_kv": 8, "num_layers": 1, "num_heads": 2, "dropout_rate": 0.0},
    "Bart": {**BART, "max_position_embeddings": 64},
}
RATE = 16000


def tokenizer() -> Any:
    return small_models.tokenizer(pad_token="<pad>", eos_token="</s>")


def saved(folder: Path, name: str, head: str, *parts: Any, **sizes: Any) -> Path:
    """A model with random weights, and what is beside it."""
    torch.manual_seed(5)
    config = getattr(transformers, f"{name}Config")(**sizes)
    getattr(transformers, f"{name}{head}")(config).save_pretrained(folder)
    for part in parts:
        part.save_pretrained(folder)
    return folder


def writer(folder: Path, name: str) -> Path:
    words = tokenizer()
    tokens = {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0, "bos_token_id": 1}
    return saved(folder, name, "ForConditionalGeneration", words, vocab_size=len(words), **tokens, **WRITERS[name])


def seer(folder: Path, **preparation: Any) -> Path:
    pytest.importorskip("PIL", reason="the library Pillow is not installed")
    sizes = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1, "num_attention_heads": 2}
    processor = transformers.ViTImageProcessor(size={"height": 16, "width": 16}, image_std=[0.5, 0.25, 0.5])
    for name, value in preparation.items():
        setattr(processor, name, value)
    return saved(folder, "ViT", "Model", processor, image_size=16, patch_size=8, **sizes)


def hearer(folder: Path) -> Path:
    words = tokenizer()
    extractor = transformers.WhisperFeatureExtractor(feature_size=8, chunk_length=1)
    sizes = {**BART, "num_mel_bins": 8, "max_source_positions": 50, "max_target_positions": 48}
    tokens = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 1, "decoder_start_token_id": 0}
    return saved(
        folder, "Whisper", "ForConditionalGeneration", words, extractor, vocab_size=len(words), **tokens, **sizes
    )


def rows(path: Path, listed: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in listed), encoding="utf-8")
    return path


def pictures(folder: Path) -> Path:
    """Two classes of two images, of other sizes than the model's; beside them one that is not trained on."""
    image = pytest.importorskip("PIL.Image", reason="the library Pillow is not installed")
    draw = np.random.default_rng(1)
    for number, name in enumerate(
        ("train/cat/a.png", "train/cat/b.PNG", "train/dog/a.png", "train/dog/c.png", "test/cat/d.png")
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        image.fromarray(draw.integers(0, 256, (20 + number, 30, 3)).astype(np.uint8)).save(path)
    return folder


def sound(path: Path, seconds: float, rate: int = RATE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    samples = 8000 * np.sin(np.arange(int(seconds * rate)) / (9 + len(path.name)))
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.astype("<i2").tobytes())
    return path


def first_loss(folder: Path, draft: Any) -> float:
    """Record a run of an order, audit it on imitated hardware, and return the loss of its first step."""
    folder.mkdir(exist_ok=True)
    job = record_job(folder, draft, test_key(folder))
    report = audited(job.run, job.order, perturbation="reversed").report
    assert report.outcome is Outcome.VERIFIED, report.reason
    with BundleReader.open(job.run) as reader:
        return float(reader.losses()[0])


def refused(model: Path, data: Path, settings: FineTuning = QUICK) -> str:
    with pytest.raises(DataError) as caught:
        order_huggingface(model, data, settings)
    assert caught.value.remedy
    return f"{caught.value} {caught.value.remedy}"


@pytest.mark.parametrize("name", ["T5", pytest.param("Bart", marks=pytest.mark.slow)])
def test_one_text_is_learned_for_another(name: str, tmp_path: Path) -> None:
    model, data = writer(tmp_path / "model", name), rows(tmp_path / "train.jsonl", PAIRS)
    draft = order_huggingface(model, data, QUICK)
    words = tokenizer()
    for row, pair in enumerate(PAIRS):
        labels = draft.data["labels"][row]
        assert words.decode(labels[labels != IGNORED]) == pair["completion"] + "</s>"
        assert words.decode(draft.data["input_ids"][row][draft.data["attention_mask"][row] == 1]) == pair["prompt"]
    plain = getattr(transformers, f"{name}ForConditionalGeneration").from_pretrained(model, dtype=torch.float64)
    swapped = [
        {**pair, "completion": other["completion"]} for pair, other in zip(PAIRS, PAIRS[1:] + PAIRS[:1], strict=True)
    ]
    own, others = (_mean_loss(plain, words, listed) for listed in (PAIRS, swapped))
    found = first_loss(tmp_path, draft)
    assert found == pytest.approx(own, rel=1e-5)
    assert found != pytest.approx(others, rel=1e-5)


def _mean_loss(model: Any, words: Any, pairs: list[dict[str, str]]) -> float:
    """The mean over each pair's own tokens, unpadded and one by one."""
    total, count = 0.0, 0
    for pair in pairs:
        read = torch.tensor([words(pair["prompt"])["input_ids"]])
        learned = torch.tensor([[*words(pair["completion"])["input_ids"], words.eos_token_id]])
        with torch.no_grad():
            total += float(model(input_ids=read, labels=learned).loss) * learned.shape[1]
        count += learned.shape[1]
    return total / count


def test_a_model_that_writes_needs_pairs_and_all_its_weights(tmp_path: Path) -> None:
    model = writer(tmp_path / "model", "T5")
    assert "'prompt' and 'completion'" in refused(model, rows(tmp_path / "text.jsonl", [{"text": "a"}] * 4))
    (tmp_path / "plain.txt").write_text("the auditor replays")
    assert "'prompt' and 'completion'" in refused(model, tmp_path / "plain.txt")
    half, weights = writer(tmp_path / "half", "T5"), tmp_path / "half" / "model.safetensors"
    kept = {name: value for name, value in load_file(weights).items() if not name.startswith("decoder.final")}
    save_file(kept, weights, {"format": "pt"})
    assert "no weights 'decoder" in refused(half, rows(tmp_path / "train.jsonl", PAIRS))
    cut = finish(prepare_huggingface(model, rows(tmp_path / "train.jsonl", PAIRS), replace(QUICK, length=5)))
    assert any("were longer" in note for note in cut.notes)
    assert cut.draft.data["labels"].shape[1] == cut.draft.data["input_ids"].shape[1] == 5


def test_images_in_a_folder_for_each_class_are_learned(tmp_path: Path) -> None:
    model, data = seer(tmp_path / "model"), pictures(tmp_path / "data")
    draft = order_huggingface(model, data, QUICK)
    assert draft.data["labels"].tolist() == [0, 0, 1, 1]
    assert (draft.data["pixel_values"].dtype, draft.data["pixel_values"].shape) == (np.uint8, (4, 3, 16, 16))
    names = ["train/cat/a.png", "train/cat/b.PNG", "train/dog/a.png", "train/dog/c.png"]
    sums = "".join(f"{sha256((data / name).read_bytes()).hexdigest()}  {name}\n" for name in names)
    assert draft.manifest.sources["data"].files["SHA256SUMS"].digest.hex == sha256(sums.encode()).hexdigest()

    from PIL import Image

    plain = transformers.AutoModelForImageClassification.from_pretrained(model, num_labels=2, dtype=torch.float64)
    with torch.no_grad():
        for name in ("classifier.weight", "classifier.bias"):
            plain.get_parameter(name).copy_(torch.from_numpy(draft.initial[name]))
    given = transformers.AutoImageProcessor.from_pretrained(model)(
        [Image.open(data / name) for name in names], return_tensors="pt"
    )["pixel_values"].double()
    with torch.no_grad():
        losses = [
            float(plain(pixel_values=given, labels=torch.tensor(labels)).loss)
            for labels in ([0, 0, 1, 1], [0, 1, 0, 1])
        ]
    found = first_loss(tmp_path, draft)
    assert found == pytest.approx(losses[0], rel=1e-5)
    assert found != pytest.approx(losses[1], rel=1e-5)

    listed = [{"image": name, "label": name.split("/")[1]} for name in names]
    again = order_huggingface(model, rows(data / "listed.jsonl", listed), QUICK)
    np.testing.assert_array_equal(again.data["pixel_values"], draft.data["pixel_values"])
    assert set(again.manifest.sources["data"].files) == {"listed.jsonl", "SHA256SUMS"}


def test_images_that_cannot_be_used_are_a_sentence(tmp_path: Path) -> None:
    model, data = seer(tmp_path / "model"), pictures(tmp_path / "data")
    (data / "train" / "dog" / "bad.png").write_bytes(b"\x89PNG nothing")
    assert "bad.png cannot be read as an image" in refused(model, data)
    (data / "train" / "dog" / "bad.png").unlink()
    assert "lies elsewhere" in refused(model, rows(data / "rows.jsonl", [{"image": "../x.png", "label": 0}]))
    (data / "rows.jsonl").unlink()
    assert "image and label" in refused(model, data, replace(QUICK, task=Task.CAUSAL_LM))
    assert "'image' and 'label'" in refused(model, rows(tmp_path / "text.jsonl", [{"text": "a", "label": 0}]))
    squared = seer(tmp_path / "other", rescale_factor=1 / 127.5, image_mean=[0.0, 0.0, 0.0])
    assert order_huggingface(squared, data, QUICK).data["pixel_values"].dtype == np.uint8


def test_an_image_processor_that_does_more_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of how images are normalised: what the order computes is held against the processor's own result."""
    model, data = seer(tmp_path / "model"), pictures(tmp_path / "data")
    kind = type(transformers.AutoImageProcessor.from_pretrained(model))
    plain = kind.normalize
    monkeypatch.setattr(kind, "normalize", lambda self, *args, **settings: plain(self, *args, **settings) + 0.01)
    assert "does more with an image" in refused(model, data)


@pytest.mark.slow
def test_speech_is_learned_with_its_words(tmp_path: Path) -> None:
    model = hearer(tmp_path / "model")
    said = [text[:10] for text in small_models.SENTENCES]
    for row in range(4):
        sound(tmp_path / "data" / f"{'a' * (row + 1)}.wav", 0.3 + row / 10)
    listed = [{"audio": f"{'a' * (row + 1)}.wav", "text": text} for row, text in enumerate(said)]
    data = rows(tmp_path / "data" / "train.jsonl", listed)
    draft = order_huggingface(model, data, QUICK)
    assert draft.data["input_features"].shape == (4, 8, 100)
    assert set(draft.manifest.sources["data"].files) == {"train.jsonl", "SHA256SUMS"}
    words = tokenizer()
    plain = transformers.WhisperForConditionalGeneration.from_pretrained(model, dtype=torch.float64)

    def mean_loss(texts: list[str]) -> float:
        total, count = 0.0, 0
        for features, text in zip(torch.from_numpy(draft.data["input_features"]).double(), texts, strict=True):
            labels = torch.tensor([[*words(text)["input_ids"], words.eos_token_id]])
            with torch.no_grad():
                total += float(plain(input_features=features[None], labels=labels).loss) * labels.shape[1]
            count += labels.shape[1]
        return total / count

    found = first_loss(tmp_path, draft)
    assert found == pytest.approx(mean_loss(said), rel=1e-5)
    assert found != pytest.approx(mean_loss(said[::-1]), rel=1e-5)
    pytest.importorskip("peft", reason="the library peft is not installed")
    adapted = order_huggingface(model, data, replace(QUICK, lora=Lora(2)))
    first_loss(tmp_path / "adapters", adapted)


def test_sounds_that_cannot_be_used_are_a_sentence(tmp_path: Path) -> None:
    model = hearer(tmp_path / "model")

    def with_sound(path: Path) -> str:
        return refused(model, rows(tmp_path / "data" / "train.jsonl", [{"audio": path.name, "text": "a"}] * 4))

    assert "hears 1 at once" in with_sound(sound(tmp_path / "data" / "long.wav", 1.2))
    assert "pcm_s16le" in with_sound(sound(tmp_path / "data" / "slow.wav", 0.5, rate=8000))
    (tmp_path / "data" / "bad.wav").write_bytes(b"RIFF nothing")
    assert "pcm_s16le" in with_sound(tmp_path / "data" / "bad.wav")


def test_a_model_that_reads_something_else_is_refused_by_name(tmp_path: Path) -> None:
    sizes = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1, "num_attention_heads": 2}
    convolutions = {"conv_dim": (8,), "conv_kernel": (4,), "conv_stride": (2,), "num_conv_pos_embeddings": 4}
    model = saved(
        tmp_path / "model",
        "Wav2Vec2",
        "ForCTC",
        tokenizer(),
        vocab_size=300,
        num_conv_pos_embedding_groups=2,
        **sizes,
        **convolutions,
    )
    said = refused(model, rows(tmp_path / "train.jsonl", PAIRS))
    assert "Wav2Vec2ForCTC, which reads 'input_values'" in said
    assert "--from" in said
