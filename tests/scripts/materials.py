"""Data and models that scripts read, made here: generated images, sentences and graphs, and models of one layer."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np

from support import small_models

WORDS = [word for sentence in small_models.SENTENCES for word in sentence.split()]


def sentences(count: int, length: int = 8, seed: int = 3) -> list[str]:
    draw = np.random.default_rng(seed)
    return [" ".join(WORDS[int(word)] for word in draw.integers(0, len(WORDS), length)) for _row in range(count)]


def images(folder: Path, count: int, size: int, name: str = "{index}.png") -> None:
    """Writes ``count`` images of noise."""
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(5)
    for index in range(count):
        pixels = draw.integers(0, 256, (size, size, 3)).astype(np.uint8)
        Image.fromarray(pixels).save(folder / name.format(index=index))


def image_classes(folder: Path, count: int, size: int, classes: str = "ab") -> None:
    """Writes the images of some classes, each in its folder."""
    for label in classes:
        images(folder / label, count // len(classes), size)


def without_dropout(folder: Path) -> None:
    """Sets the rates of a saved model's dropout to 0, so that its losses can be compared."""
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    for key in config:
        if "dropout" in key or key.endswith("pdrop"):
            config[key] = 0.0 if isinstance(config[key], float | int) else config[key]
    path.write_text(json.dumps(config, indent=1), encoding="utf-8")


def tokens(folder: Path) -> None:
    """nanoGPT's data: numbers of 16 bits, and what they stand for."""
    data = folder / "data/shakespeare_char"
    data.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(2)
    for name in ("train.bin", "val.bin"):
        draw.integers(0, 65, 2000).astype(np.uint16).tofile(data / name)
    (data / "meta.pkl").write_bytes(pickle.dumps({"vocab_size": 65, "itos": {}, "stoi": {}}))


def characters(folder: Path) -> None:
    (folder / "input.txt").write_text("O God, O God! " + "\n".join(sentences(60)), encoding="utf-8")


def shard(folder: Path) -> None:
    """llm.c's data: a header of 256 numbers of 32 bits, then tokens of 16 bits."""
    header = np.zeros(256, np.int32)
    header[:3] = 20240520, 1, 600
    with (folder / "tokens.bin").open("wb") as file:
        file.write(header.tobytes())
        file.write(np.random.default_rng(2).integers(0, 512, 600).astype(np.uint16).tobytes())


def text_corpus(folder: Path) -> None:
    """The files of the word language model."""
    data = folder / "data/tiny"
    data.mkdir(parents=True, exist_ok=True)
    for name, rows in (("train", 60), ("valid", 12), ("test", 12)):
        (data / f"{name}.txt").write_text("\n".join(sentences(rows)), encoding="utf-8")


def sines(folder: Path) -> None:
    import torch

    rows = np.sin((np.arange(30) + np.arange(6)[:, None] * 3) / 20)
    torch.save(rows.astype("float64"), folder / "traindata.pt")


def super_resolution(folder: Path) -> None:
    for part, count in (("train", 12), ("test", 4)):
        images(folder / "dataset/BSDS300/images" / part, count, 64)


def style(folder: Path) -> None:
    image_classes(folder / "coco", 12, 48)
    images(folder, 1, 32, "style.png")


def cora(folder: Path) -> None:
    """A citation graph in the two files of the data set of that name."""
    draw = np.random.default_rng(4)
    where = folder / "cora"
    where.mkdir(exist_ok=True)
    nodes = 120
    rows = [" ".join(map(str, [node, *draw.integers(0, 2, 16), "abc"[node % 3]])) for node in range(nodes)]
    (where / "cora.content").write_text("\n".join(rows), encoding="utf-8")
    # No edge twice, and every node has one.
    edges = {(node, (node + int(step)) % nodes) for node in range(nodes) for step in draw.integers(1, 60, 2)}
    (where / "cora.cites").write_text("\n".join(f"{a}\t{b}" for a, b in sorted(edges)), encoding="utf-8")


def text_file(folder: Path) -> None:
    (folder / "train.txt").write_text("\n".join(sentences(120)), encoding="utf-8")
    (folder / "valid.txt").write_text("\n".join(sentences(40)), encoding="utf-8")


def language_model(folder: Path) -> None:
    text_file(folder)
    small_models.gpt2(folder / "model")
    without_dropout(folder / "model")


def masked_model(folder: Path) -> None:
    text_file(folder)
    small_models.bert(folder / "model")
    without_dropout(folder / "model")


def classifier(folder: Path) -> None:
    small_models.bert(folder / "model", classes=2)
    without_dropout(folder / "model")
    for name, rows in (("train", 48), ("valid", 16)):
        lines = [
            json.dumps({"sentence1": a, "sentence2": b, "label": row % 2})
            for row, (a, b) in enumerate(zip(sentences(rows), sentences(rows, seed=9), strict=True))
        ]
        (folder / f"{name}.json").write_text("\n".join(lines), encoding="utf-8")


def glue(folder: Path, model: str, dataset: str = "nyu-mll/glue") -> None:
    """A model under its public name, the data set of pairs of sentences under its own, and its measure."""
    small_models.bert(folder / model, classes=2)
    without_dropout(folder / model)
    where = folder / dataset / "mrpc"
    where.mkdir(parents=True, exist_ok=True)
    for name, rows in (("train", 48), ("validation", 16)):
        lines = [
            json.dumps({"sentence1": a, "sentence2": b, "label": row % 2, "idx": row})
            for row, (a, b) in enumerate(zip(sentences(rows), sentences(rows, seed=9), strict=True))
        ]
        (where / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    header = "---\nconfigs:\n- config_name: mrpc\n  data_files:\n"
    header += "".join(f"  - split: {name}\n    path: mrpc/{name}.jsonl\n" for name in ("train", "validation"))
    (folder / dataset / "README.md").write_text(header + "---\n", encoding="utf-8")


def instructions(folder: Path) -> None:
    small_models.gpt2(folder / "model", n_positions=512)
    without_dropout(folder / "model")
    rows = [
        {"instruction": a, "input": "" if row % 2 else b, "output": b}
        for row, (a, b) in enumerate(zip(sentences(24), sentences(24, seed=9), strict=True))
    ]
    (folder / "data.json").write_text(json.dumps(rows), encoding="utf-8")


def _json_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def completions(folder: Path) -> None:
    language_model(folder)
    rows = [{"prompt": a, "completion": " " + b} for a, b in zip(sentences(24), sentences(24, seed=9), strict=True)]
    _json_lines(folder / "data/train.jsonl", rows)


def preferences(folder: Path) -> None:
    language_model(folder)
    rows = [
        {"prompt": a, "chosen": " " + b, "rejected": " " + c}
        for a, b, c in zip(sentences(24, 4), sentences(24, 4, 9), sentences(24, 4, 11), strict=True)
    ]
    _json_lines(folder / "data/train.jsonl", rows)


def comparisons(folder: Path) -> None:
    """A model, and pairs of what is better and what is worse."""
    language_model(folder)
    rows = [
        {"chosen": f"{a} {b}", "rejected": f"{a} {c}"}
        for a, b, c in zip(sentences(24, 4), sentences(24, 4, 9), sentences(24, 4, 11), strict=True)
    ]
    _json_lines(folder / "data/train.jsonl", rows)


def rewards(folder: Path) -> None:
    language_model(folder)
    _json_lines(folder / "data/train.jsonl", [{"prompt": text} for text in sentences(24, 4)])
    code = "def length(completions, **_):\n    return [float(len(set(text))) for text in completions]\n"
    (folder / "rewards.py").write_text(code, encoding="utf-8")


def image_splits(folder: Path) -> None:
    for split in ("train", "val"):
        image_classes(folder / "images" / split, 18, 40, "abcdef")


def pictures(folder: Path) -> None:
    images(folder / "images", 120, 20)


def pets(folder: Path) -> None:
    for breed in ("beagle", "samoyed"):
        images(folder / "pets", 12, 40, breed + "_{index}.jpg")


def clip(folder: Path) -> None:
    """A configuration beside those that the library brings."""
    config = {
        "embed_dim": 16,
        "vision_cfg": {"image_size": 32, "layers": 1, "width": 16, "head_width": 8, "patch_size": 16},
        "text_cfg": {"context_length": 16, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 1},
    }
    (folder / "open_clip/model_configs/tiny.json").write_text(json.dumps(config), encoding="utf-8")


def planetoid(folder: Path) -> None:
    """The files of a citation graph, as the library reads them."""
    import scipy.sparse

    raw = folder.parent / "data/Planetoid/Cora/raw"
    raw.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(4)
    nodes, tested, trained = 700, 60, 30
    features = scipy.sparse.csr_matrix(draw.integers(0, 2, (nodes, 12)).astype(np.float32))
    labels = np.eye(3, dtype=np.int32)[np.arange(nodes) % 3]
    graph = {node: [int(n) for n in draw.integers(0, nodes, 3)] for node in range(nodes)}
    rest = nodes - tested
    for name, rows in (("x", slice(trained)), ("allx", slice(rest)), ("tx", slice(rest, None))):
        (raw / f"ind.cora.{name}").write_bytes(pickle.dumps(features[rows]))
        (raw / f"ind.cora.{name.replace('x', 'y')}").write_bytes(pickle.dumps(labels[rows]))
    (raw / "ind.cora.graph").write_bytes(pickle.dumps(graph))
    (raw / "ind.cora.test.index").write_text("\n".join(map(str, range(rest, nodes))), encoding="utf-8")


def molecules(folder: Path) -> None:
    """Graphs of several sizes, in the files of the TU collection."""
    raw = folder.parent / "data/TU/MUTAG/raw"
    raw.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(4)
    edges, owners, kinds = [], [], []
    for graph in range(40):
        first, size = len(owners) + 1, int(draw.integers(5, 9))
        owners += [graph + 1] * size
        kinds += [int(kind) for kind in draw.integers(0, 3, size)]
        for node in range(size):
            a, b = first + node, first + (node + 1) % size
            edges += [f"{a}, {b}", f"{b}, {a}"]
    files = {"A": edges, "graph_indicator": owners, "graph_labels": [1, -1] * 20, "node_labels": kinds}
    for name, lines in files.items():
        (raw / f"MUTAG_{name}.txt").write_text("\n".join(map(str, lines)) + "\n", encoding="utf-8")


def unconditional(folder: Path) -> None:
    """Images in a folder, and the configuration of a small network."""
    images(folder / "images", 16, 20)
    import diffusers

    config = diffusers.UNet2DModel(
        sample_size=16,
        block_out_channels=(8, 8),
        layers_per_block=1,
        norm_num_groups=4,
        attention_head_dim=4,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    )
    config.save_config(folder / "unet")


def autoencoder(folder: Path) -> None:
    """Images in a folder, and an autoencoder of the public one's shape under its name."""
    image_classes(folder / "images", 8, 256)
    import diffusers

    kinds = 4
    model = diffusers.AutoencoderKL(
        block_out_channels=(4,) * kinds,
        down_block_types=("DownEncoderBlock2D",) * kinds,
        up_block_types=("UpDecoderBlock2D",) * kinds,
        layers_per_block=1,
        latent_channels=4,
        norm_num_groups=2,
    )
    model.save_pretrained(folder / "stabilityai/sd-vae-ft-ema")


def torchtune(folder: Path) -> None:
    """A model of one layer in one file of float32, a tokenizer of bytes, and the configuration of a run."""
    import transformers

    small_models.llama(folder / "parts")
    model = transformers.LlamaForCausalLM.from_pretrained(folder / "parts").float()
    model.save_pretrained(folder / "model")
    (folder / "train.txt").write_text("\n".join(sentences(24, 4)), encoding="utf-8")
    code = """
class Tokenizer:
    max_seq_len, pad_id, vocab_size = 24, 0, 300

    def encode(self, text, add_bos=True, add_eos=True):
        return [1] + list(text.encode())[: self.max_seq_len - 2] + [2]
"""
    (folder / "bytewise.py").write_text(code, encoding="utf-8")
    heads = {"num_heads": 4, "num_kv_heads": 2, "embed_dim": 16, "intermediate_dim": 24}
    sizes = {"vocab_size": model.config.vocab_size, "num_layers": 1, "max_seq_len": 48, "rope_base": 10000}
    config = {
        "output_dir": "out",
        "model": {"_component_": "torchtune.models.llama3.llama3", **sizes, **heads},
        "tokenizer": {"_component_": "bytewise.Tokenizer"},
        "dataset": {
            "_component_": "torchtune.datasets.text_completion_dataset",
            "source": "text",
            "data_files": "train.txt",
        },
        "checkpointer": {
            "_component_": "torchtune.training.FullModelHFCheckpointer",
            "checkpoint_dir": "model",
            "checkpoint_files": ["model.safetensors"],
            "output_dir": "out",
            "model_type": "LLAMA3",
        },
        "optimizer": {"_component_": "torch.optim.AdamW", "lr": 1e-3},
        "loss": {"_component_": "torchtune.modules.loss.LinearCrossEntropyLoss"},
        "metric_logger": {"_component_": "torchtune.training.metric_logging.DiskLogger", "log_dir": "out/logs"},
        **{"seed": 1, "shuffle": True, "resume_from_checkpoint": False, "batch_size": 2, "epochs": 1},
        **{"max_steps_per_epoch": 3, "gradient_accumulation_steps": 1, "optimizer_in_bwd": False, "compile": False},
        **{
            "device": "cpu",
            "dtype": "fp32",
            "log_every_n_steps": 1,
            "log_level": "INFO",
            "log_peak_memory_stats": False,
        },
    }
    (folder / "tiny.yaml").write_text(json.dumps(config), encoding="utf-8")


def factory(folder: Path) -> None:
    """A model, rows of instructions and the configuration of a run."""
    small_models.llama(folder / "model")
    rows = [
        {"instruction": a, "input": "", "output": b} for a, b in zip(sentences(24, 4), sentences(24, 4, 9), strict=True)
    ]
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data/tiny.json").write_text(json.dumps(rows), encoding="utf-8")
    (folder / "data/dataset_info.json").write_text(json.dumps({"tiny": {"file_name": "tiny.json"}}), encoding="utf-8")
    config = {
        "model_name_or_path": "model",
        "stage": "sft",
        "do_train": True,
        "finetuning_type": "lora",
        "lora_target": "all",
        "dataset": "tiny",
        "template": "default",
        "cutoff_len": 32,
        "output_dir": "out",
        "report_to": "none",
        "per_device_train_batch_size": 2,
        "gradient_accumulation_steps": 1,
        "max_steps": 3,
        "lora_dropout": 0.0,
        "disable_gradient_checkpointing": True,
        "use_cpu": True,
    }
    (folder / "tiny.yaml").write_text(json.dumps(config), encoding="utf-8")


def two_domains(folder: Path) -> None:
    """Images of two kinds, to be translated into each other."""
    data = folder.parent.parent / "data/tiny"
    for split, count in (("train", 3), ("test", 5)):
        for kind in "AB":
            images(data / split / kind, count, 40)


def text(folder: Path) -> None:
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data/train.txt").write_text("\n".join(sentences(40)), encoding="utf-8")


def ants_and_bees(folder: Path) -> None:
    for split in ("train", "val"):
        for kind in ("ants", "bees"):
            images(folder / "data/hymenoptera_data" / split / kind, 4, 40)
    images(folder / "data/hymenoptera_data/val/bees", 1, 40, "72100438_73de9f17af.jpg")


def first_names(folder: Path) -> None:
    (folder / "names.txt").write_text("\n".join(letters(200)), encoding="utf-8")


def letters(count: int, seed: int = 3) -> list[str]:
    """Words of small letters."""
    draw = np.random.default_rng(seed)
    alphabet = list("abcdefghijklmnopqrstuvwxyz")
    return ["".join(draw.choice(alphabet, int(draw.integers(3, 8)))) for _word in range(count)]


def names(folder: Path) -> None:
    """Names of two languages, each in its file."""
    (folder / "data/names").mkdir(parents=True, exist_ok=True)
    for seed, language in enumerate(("Scottish", "Greek")):
        text = "\n".join(name.title() for name in letters(20, seed))
        (folder / f"data/names/{language}.txt").write_text(text, encoding="utf-8")


def translations(folder: Path) -> None:
    """Sentences in two languages, those among them that the tutorial looks up afterwards."""
    (folder / "data").mkdir(exist_ok=True)
    french = ["il n est pas aussi grand que son pere", "je suis trop fatigue pour conduire"]
    french += ["je suis desole si c est une question idiote", "je suis reellement fiere de vous"]
    french += [f"je suis {word}" for word in letters(28)]
    rows = [f"i am {' '.join(letters(3, row))}\t{words}" for row, words in enumerate(french)]
    (folder / "data/eng-fra.txt").write_text("\n".join(rows), encoding="utf-8")


def anna(folder: Path) -> None:
    (folder / "data").mkdir(exist_ok=True)
    text = "And Levin said: Anna, The " + " ".join(sentences(40))
    (folder / "data/anna.txt").write_text(text, encoding="utf-8")


def citations(folder: Path) -> None:
    (folder.parent / "data").mkdir(exist_ok=True)
    cora(folder.parent / "data")


def masks(folder: Path) -> None:
    """Images, and for each one of black and white."""
    from PIL import Image

    images(folder / "data/imgs", 8, 32)
    (folder / "data/masks").mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(6)
    for index in range(8):
        pixels = (draw.integers(0, 2, (32, 32)) * 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"data/masks/{index}.png")


def low_rank(folder: Path) -> None:
    """Pairs of lists of tokens."""
    draw = np.random.default_rng(2)
    for name, rows in (("train", 16), ("valid", 4)):
        pairs = [{key: draw.integers(0, 300, 8).tolist() for key in ("context", "completion")} for _row in range(rows)]
        _json_lines(folder / f"{name}.jsonl", pairs)


def digits(folder: Path) -> None:
    draw = np.random.default_rng(2)
    arrays = {}
    for name, rows in (("train", 48), ("test", 16)):
        arrays[f"x_{name}"] = draw.integers(0, 256, (rows, 28, 28)).astype(np.uint8)
        arrays[f"y_{name}"] = (np.arange(rows) % 10).astype(np.uint8)
    np.savez(folder / "mnist.npz", **arrays)


def processed_digits(folder: Path) -> None:
    """The two files of a data set of digits, each of images and labels."""
    import torch

    where = folder / "data/MNIST/complete"
    where.mkdir(parents=True)
    draw = np.random.default_rng(2)
    for name, rows in (("training", 96), ("test", 16)):
        images = torch.from_numpy(draw.integers(0, 256, (rows, 28, 28)).astype(np.uint8))
        torch.save((images, torch.arange(rows) % 10), where / f"{name}.pt")
