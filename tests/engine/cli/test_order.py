"""The orders of the command line: each recipe at a small size, and a sentence for what cannot be ordered."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import typer.main

from counterfoil.cli import main
from counterfoil.cli.orders import order_app
from counterfoil.signing.privatekeys import generate_key
from counterfoil.training.orderfile import load_order
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.base.stoprule import StopRule
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import OrderManifest
from counterfoil_core.order.evaluation import score_names


def order(path: Path) -> OrderManifest:
    with BundleReader.open(path) as reader:
        reader.check_order_contents()
        return reader.manifest


@pytest.fixture
def fashion(tmp_path: Path) -> Path:
    """IDX files of 24 images of 10x10 pixels."""
    pixels = (np.arange(24 * 100) % 256).astype(np.uint8)
    header = b"".join(n.to_bytes(4, "big") for n in (24, 10, 10))
    (tmp_path / "train-images-idx3-ubyte").write_bytes(b"\x00\x00\x08\x03" + header + pixels.tobytes())
    labels = (np.arange(24) % 10).astype(np.uint8).tobytes()
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(b"\x00\x00\x08\x01" + header[:4] + labels)
    return tmp_path


@pytest.mark.slow
def test_resnet(fashion, capsys):
    out = fashion / "job.cfoil"
    settings = ["--model", "resnet18", "--rows", "20", "--steps", "3", "--batch-size", "4", "--no-flip"]
    settings += ["--crop-padding", "1", "--no-trial"]  # test_trial.py tries one
    assert main(["order", "resnet", "--data", str(fashion), "--out", str(out), *settings]) == 0
    assert "ResNet-18 on 20 images of 1x10x10" in capsys.readouterr().out
    manifest = order(out)
    assert manifest.recipe == "resnet18"
    assert manifest.data["images"].shape == (20, 1, 10, 10)


def test_vgg11_on_small_images_is_a_sentence(fashion, capsys):
    assert main(["order", "vgg11", "--data", str(fashion), "--out", str(fashion / "job.cfoil")]) == 4
    shown = capsys.readouterr().err
    assert "10x10" in shown
    assert "order a ResNet" in shown
    assert not (fashion / "job.cfoil").exists()


def test_logistic_made_up_and_from_a_file(tmp_path):
    made, read = tmp_path / "made.cfoil", tmp_path / "read.cfoil"
    settings = ["--steps", "4", "--batch-size", "16"]
    assert main(["order", "logistic", "--out", str(made), "--rows", "64", "--features", "5", *settings]) == 0
    assert order(made).data["features"].shape == (64, 5)
    table = tmp_path / "table.npz"
    np.savez(table, features=np.ones((40, 3), np.float32), labels=np.arange(40) % 2)
    assert main(["order", "logistic", "--out", str(read), "--data", str(table), *settings]) == 0
    assert order(read).data["features"].shape == (40, 3)


def test_the_options_of_all_recipes_reach_the_order(tmp_path):
    out, data = tmp_path / "job.cfoil", tmp_path / "table.cfdata"
    common = ["--seed", "7", "--commit-every", "2", "--checkpoint-every", "4", "--precision", "float64-20"]
    common += ["--margins", "calibrated", "--external-data", str(data), "--no-trial"]
    own = ["--rows", "64", "--features", "5", "--steps", "8", "--batch-size", "16"]
    assert main(["order", "logistic", "--out", str(out), *own, *common]) == 0
    manifest = order(out)
    assert (manifest.seed, manifest.commit_every, manifest.checkpoint_every) == (7, 2, 4)
    assert manifest.precision.significand_bits == 20
    assert not manifest.precision.proven
    assert data.exists()


def test_steps_are_divided_into_shares(tmp_path, capsys):
    own = ["order", "logistic", "--rows", "64", "--features", "5", "--steps", "2", "--batch-size", "16"]
    shares = ["--shares", "4", "--micro-batches", "2", "--buffers", "mean"]
    assert main([*own, "--out", str(tmp_path / "job.cfoil"), *shares]) == 0
    assert "Each step has 4 shares of 4 rows, which are added exactly." in capsys.readouterr().out
    manifest = order(tmp_path / "job.cfoil")
    assert manifest.shares is not None
    assert (manifest.shares.count, manifest.shares.rule, manifest.program_rows) == (4, "sum", 4)
    assert "2 micro-batches" in manifest.optimizer
    rule = ["--shares", "4", "--aggregate", "trimmed-mean", "--faulty", "1", "--worker-momentum", "0.9"]
    assert main([*own, "--out", str(tmp_path / "rule.cfoil"), *rule]) == 0
    assert "4 shares of 4 rows, of which a rule of aggregation makes one" in capsys.readouterr().out
    stacked = order(tmp_path / "rule.cfoil")
    assert stacked.shares is not None
    assert stacked.shares.rule == "stack"
    assert "he trimmed mean of 4 shares, 1 of which may be faulty, over worker momentum 0.9" in stacked.optimizer
    # Without shares an order is what it always was, and one share is none.
    for name, chosen in (("none", []), ("one", ["--shares", "1"])):
        assert main([*own, "--out", str(tmp_path / f"{name}.cfoil"), "--no-trial", *chosen]) == 0
    assert "shares" not in capsys.readouterr().out
    assert order(tmp_path / "none.cfoil").digest == order(tmp_path / "one.cfoil").digest


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--shares", "5"], "A batch of 16 rows cannot be divided into 5 equal shares"),
        (
            ["--shares", "4", "--micro-batches", "3"],
            "A batch of 4 rows of 'features' cannot be split into 3 equal parts",
        ),
        (["--aggregate", "krum"], "There are no shares that the rule of aggregation 'krum' could be for"),
        (["--faulty", "1"], "no rule of aggregation that minds them"),
        (["--shares", "4", "--aggregate", "krum", "--faulty", "1"], "Krum with 1 faulty shares needs 5 shares"),
    ],
)
def test_a_step_that_cannot_be_divided_is_a_sentence(options, sentence, tmp_path, capsys):
    own = ["order", "logistic", "--rows", "64", "--features", "5", "--steps", "2", "--batch-size", "16"]
    assert main([*own, "--out", str(tmp_path / "job.cfoil"), *options]) == 4
    assert sentence in " ".join(capsys.readouterr().err.split())
    assert not list(tmp_path.iterdir())


JOB = """
import numpy as np, torch
from torch import nn
from counterfoil import CustomJob

def make_job():
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    data = {"x": np.ones((8, 3), np.float32)}
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    return CustomJob("T", model, lambda m, b: m(b["x"]).square().mean(), optimizer, data, 2, 4)
"""


@pytest.mark.slow
def test_a_job_of_a_function_is_divided_by_an_option(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("job_to_divide.py").write_text(JOB)
    assert main(["order", "--from", "job_to_divide:make_job", "--shares", "2", "--out", "job.cfoil"]) == 0
    said = capsys.readouterr().out
    assert "Each step has 2 shares of 2 rows" in said
    assert "second look" not in said, "which divides it, too"
    manifest = order(Path("job.cfoil"))
    assert manifest.shares is not None
    assert manifest.shares.count == 2


def test_a_script_is_not_divided_by_an_option(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("raise SystemExit('it never runs')")
    assert main(["order", "--script", "train.py", "--shares", "2", "--out", "job.cfoil"]) != 0
    said = " ".join(re.sub("[│╭╮╰╯─]", " ", capsys.readouterr().err).split())
    assert "--shares is for --from and for recipes" in said
    assert "Return a counterfoil.CustomJob with shares from a function" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--from", "job:make", "--compare", "3"], "--compare, --answer and --no-network are for --script"),
        (["--from", "job:make", "--answer", "no"], "--compare, --answer and --no-network are for --script"),
        (["--from", "job:make", "--no-network"], "--compare, --answer and --no-network are for --script"),
        (["--script", "train.py", "--no-second-look"], "--no-second-look is for --from"),
        (["--script", "train.py", "--compare", "-1"], "Invalid value for '--compare'"),
        (["--script", "train.py", "--answer", "perhaps"], "'perhaps' is no answer"),
        (["digits-cnn", "--compare", "3"], "No such option"),
    ],
)
def test_what_is_asked_of_a_script_is_asked_of_nothing_else(options, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("raise AssertionError('it never runs')")
    Path("job.py").write_text("raise AssertionError('it never runs')")
    assert main(["order", *options, "--out", "job.cfoil"]) != 0
    assert said in " ".join(re.sub("[│╭╮╰╯─]", " ", capsys.readouterr().err).split())
    assert not Path("job.cfoil").exists()


def test_a_comparison_that_lies_there_is_replaced_only_when_asked(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("raise AssertionError('it never runs')")
    Path("job.comparison.json").write_text("{}")
    assert main(["order", "--script", "train.py", "--out", "job.cfoil"]) != 0
    assert "job.comparison.json exists already" in " ".join(capsys.readouterr().err.split())
    assert Path("job.comparison.json").read_text() == "{}"


def test_activations_are_recomputed_if_asked_for(tmp_path, capsys):
    asked = ["order", "digits-cnn", "--steps", "1", "--batch-size", "8", "--width", "4", "--no-trial"]
    for segments in ("auto", "3"):
        out = tmp_path / f"{segments}.cfoil"
        assert main([*asked, "--out", str(out), "--recompute-activations", segments]) == 0
        assert "Activations are recomputed: a step takes about" in capsys.readouterr().out
        order(out)
        assert main(["inspect", str(out)]) == 0
        assert "of these again in the backward pass" in " ".join(capsys.readouterr().out.split())
    for wrong in ("1", "many"):
        assert main([*asked, "--out", str(tmp_path / "wrong.cfoil"), "--recompute-activations", wrong]) != 0
        assert "a number of segments, 2 to 1000" in " ".join(re.sub("[│╭╮╰╯─]", " ", capsys.readouterr().err).split())
    assert not (tmp_path / "wrong.cfoil").exists()


def test_a_run_that_may_stop_early_from_the_order_to_the_verdict(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("trainer", "auditor"):
        generate_key(Path(f"{name}.pem"), None)

    def said(*arguments: str) -> str:
        assert main([*arguments]) == 0
        return " ".join(capsys.readouterr().out.split())

    own = ["--rows", "64", "--features", "5", "--steps", "12", "--batch-size", "16", "--no-trial"]
    rule = "ends early if the loss has not fallen by 100.0 in 3 steps"
    stopping = ["--stop-early-patience", "3", "--stop-early-fall", "100"]
    ordered = said("order", "logistic", *own, "--out", "job.cfoil", *stopping)
    assert f"Its run {rule}." in ordered
    assert order(Path("job.cfoil")).may_stop_early == StopRule(3, 100.0)
    trained = said("train", "job.cfoil", "--out", "run.cfoil", "--key", "trainer.pem")
    assert "The order's rule ended the run: it has 4 of 12 ordered steps." in trained
    inspected = said("inspect", "run.cfoil", "--order", "job.cfoil")
    assert f"the run {rule}" in inspected
    assert "4 of 12 ordered steps" in inspected
    audited = said("audit", "run.cfoil", "--order", "job.cfoil", "--verdict", "v.json", "--key", "auditor.pem")
    assert "VERIFIED for 4 of 12 ordered steps" in audited
    verified = said("verify", "v.json", "--key", "auditor.pub.pem", "run.cfoil")
    assert "4 of 4 judged; the run has 4 of 12 ordered steps" in verified
    card = said("export", "model-card", "v.json", "--key", "auditor.pub.pem")
    assert "4 of 4 replayed; the run has 4 of 12 ordered steps" in card


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--stop-early-fall", "1"], "--stop-early-fall needs --stop-early-patience"),
        (["--stop-early-patience", "12"], "would never fire"),
    ],
)
def test_a_rule_that_cannot_be_ordered_is_a_sentence(tmp_path, capsys, options, words):
    out = tmp_path / "job.cfoil"
    own = ["--rows", "64", "--features", "5", "--steps", "12", "--batch-size", "16", "--no-trial"]
    assert main(["order", "logistic", *own, "--out", str(out), *options]) == 4
    assert words in " ".join(re.sub("[│╭╮╰╯─]", " ", capsys.readouterr().err).split())
    assert not out.exists()


def test_every_recipe_offers_every_precision_profile():
    commands = typer.main.get_group(order_app).commands
    for name, command in commands.items():
        (option,) = (p for p in command.params if p.name == "precision")
        context = command.make_context(name, [], resilient_parsing=True)
        assert option.get_default(context).value == "float64-24"
        for profile in PROFILES:
            assert option.process_value(context, profile).value == profile
        with pytest.raises(Exception, match="float64-25"):
            option.process_value(context, "float64-25")


WORDS = {"[UNK]": 0, "to": 1, "be": 2, "or": 3, "not": 4}


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A text, a tokenizer of five words, and weights of a model of that vocabulary."""
    tokenizers = pytest.importorskip("tokenizers", reason="the library tokenizers is not installed")
    from safetensors.torch import save_file

    from counterfoil.training.recipes.gpt2 import Gpt2, Gpt2Size

    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "book.txt").write_text("to be or not to be\n" * 60)
    model = Gpt2(Gpt2Size(layers=1, heads=2, width=8, context=12, vocabulary=5))
    save_file({f"transformer.{n}": p.detach() for n, p in model.named_parameters()}, tmp_path / "model.safetensors")
    return tmp_path


TINY = ["--layers", "1", "--heads", "2", "--width", "8", "--context", "12", "--steps", "3"]


@pytest.mark.slow
def test_gpt2_on_tokens(book):
    out = book / "job.cfoil"
    common = ["order", "gpt2", "--text", str(book / "book.txt"), "--tokenizer", str(book / "tokenizer.json")]
    assert main([*common, "--out", str(out), *TINY]) == 0
    assert order(out).data["tokens"].shape == (27, 13)
    started = [*common, "--out", str(out), "--force", *TINY, "--weights", str(book / "model.safetensors")]
    assert main([*started, "--sequence", "6"]) == 0
    manifest = order(out)
    assert manifest.data["tokens"].shape == (51, 7)
    assert manifest.data["tokens"].dtype == "int32"
    with BundleReader.open(out) as reader:
        assert reader.scalars()[:, 0].max() == pytest.approx(5e-5 * 3 / 10)  # warm-up of 10 steps, of which 3 are made


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gpt2", "--text", "book.txt", "--size", "124M", "--layers", "3", "--width", "9"], ["--layers and --width"]),
        (["gpt2", "--text", "book.txt", "--size", "124M", "--weights", "model.safetensors"], ["bytes", "50257"]),
        (
            ["gpt2", "--text", "book.txt", "--size", "124M", "--weights", "m", "--tokenizer", "tokenizer.json"],
            ["There is no file m."],
        ),
        (["gpt2", "--text", "book.txt", *TINY, "--weights", "model.safetensors"], ["'wte.weight'", "(5, 8)"]),
        (["gpt2", "--text", "book.txt", "--tokenizer", "book.txt"], ["book.txt cannot be used"]),
        (["gpt2", "--text", "book.txt", *TINY, "--sequence", "13"], ["sequences of 13"]),
        (["resnet", "--data", "nowhere"], ["nowhere cannot be read"]),
        (["resnet", "--data", "."], ["holds no images", "data_batch_1.bin"]),
        (["resnet", "--data", ".", "--model", "resnet101"], ["resnet101"]),
        (["vgg11", "--data", "book.txt"], ["book.txt cannot be read"]),
        (["logistic", "--data", "book.txt"], ["book.txt is not a table"]),
        (["logistic", "--rows", "100"], ["100 rows", "batch of 1024"]),
        (["logistic", "--commit-every", "7"], ["multiple"]),
    ],
)
def test_what_cannot_be_ordered_is_a_sentence(book, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(book)
    assert main(["order", *arguments, "--out", "job.cfoil"]) == 4
    shown = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert all(word in shown for word in words), shown
    assert "Traceback" not in shown
    assert not (book / "job.cfoil").exists()


@pytest.mark.parametrize("recipe", ["digits-cnn", "resnet", "vgg11", "logistic", "gpt2"])
def test_help_says_what_a_recipe_is_and_gives_an_example(capsys, recipe):
    assert main(["order", recipe, "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"Example: counterfoil order {recipe}" in " ".join(shown.split())


def test_the_page_on_recipes_lists_every_option_of_every_recipe():
    page = (Path(__file__).parents[3] / "docs" / "recipes.md").read_text(encoding="utf-8")
    sections = {part.split("\n", 1)[0].strip("` "): part for part in page.split("\n## ")}

    def documented(title: str) -> set[str]:
        cells = re.findall(r"^\| (`--[^|]*) \|", sections[title], re.MULTILINE)
        return {option for cell in cells for option in re.findall(r"`(--[a-z-]+)`", cell)}

    common = documented("What all have in common")
    commands = dict(typer.main.get_group(order_app).commands)
    evaluation = commands.pop("evaluate")
    for name, command in commands.items():
        options = {option for p in command.params for option in (*p.opts, *p.secondary_opts) if option.startswith("--")}
        assert options - {"--help"} == documented(name) | common, name
    assert len(commands) == 6
    page = (Path(__file__).parents[3] / "docs" / "evaluations.md").read_text(encoding="utf-8")
    own = {option for p in evaluation.params for option in p.opts if option.startswith("--")} - {"--help"}
    assert {option for option in own if f"`{option}`" not in page} == {
        "--recompute-activations", "--stop-early-patience", "--stop-early-fall", "--last-checkpoint",
    }, "those of trainings alone"  # fmt: skip


def test_rows_as_leaves(tmp_path, capsys):
    out, plain = tmp_path / "job.cfoil", tmp_path / "plain.cfoil"
    settings = ["--rows", "64", "--features", "5", "--steps", "2", "--batch-size", "16", "--no-trial"]
    assert main(["order", "logistic", "--out", str(out), "--row-leaves", *settings]) == 0
    assert "Each row of its data is a leaf" in capsys.readouterr().out
    assert main(["order", "logistic", "--out", str(plain), *settings]) == 0
    assert "is a leaf" not in capsys.readouterr().out
    with_leaves, without = order(out), order(plain)
    assert all(spec.rows is not None for spec in with_leaves.data.values())
    assert not without.has_row_leaves
    assert with_leaves.data_root == without.data_root
    again = ["order", "logistic", "--out", str(tmp_path / "other.cfoil"), "--row-leaves", *settings]
    outside = tmp_path / "a.cfdata"
    assert main([*again, "--external-data", str(outside)]) == 4
    assert "leave out --external-data" in " ".join(capsys.readouterr().err.split())
    assert not outside.exists()
    assert main(["order", "--row-leaves", *again[1:]]) == 4
    assert "Options of 'logistic' stand behind it" in " ".join(capsys.readouterr().err.split())


_EVALUATION = """
import sys
import torch

rows, correct, total = int(sys.argv[1]), 0, 0
torch.manual_seed(0)
model, x, y = torch.nn.Linear(4, 3).eval(), torch.randn(rows, 4), torch.randint(0, 3, (rows,))
with torch.no_grad():
    for start in range(0, rows, 8):
        correct += (model(x[start:start + 8]).argmax(1) == y[start:start + 8]).sum().item()
        total += len(y[start:start + 8])
"""


def test_an_evaluation_script_is_ordered_with_its_arguments(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("test.py").write_text(_EVALUATION)
    command = ["order", "evaluate", "--script", "test.py", "--out", "score.cfoil", "--precision", "exact-20"]
    settings = ["--compare", "0", "--no-trial", "--counts", "counted=total", "--checkpoint-every", "2", "--", "20"]
    assert main([*command, *settings]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Ordered 3 steps of: test" in said
    assert "Not compared with the script." in said
    with BundleReader.open(Path("score.cfoil")) as reader:
        loaded = load_order(reader)
    assert set(score_names(loaded.programs.all)) == {"score:correct", "score:counted"}
    assert loaded.manifest.checkpoint_every == 2


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--script", "test.py", "--data", "rows.jsonl"], "With --script the script says what is scored"),
        (["--script", "test.py", "--batch-size", "4"], "With --script the script says what is scored"),
        (["--script", "test.py", "--counts", "counted"], "--counts is written counted=total,correct=hits"),
        (["--data", "rows.jsonl"], "Name a folder with a model, and --data; or give --script FILE"),
        (["folder", "--data", "rows.jsonl", "--compare", "3"], "--compare and --counts are for --script"),
    ],
)
def test_an_evaluation_is_of_a_script_or_of_a_folder(tmp_path, monkeypatch, capsys, options, sentence):
    monkeypatch.chdir(tmp_path)
    Path("test.py").write_text(_EVALUATION)
    Path("rows.jsonl").write_text("{}\n")
    Path("folder").mkdir()
    assert main(["order", "evaluate", *options, "--out", "score.cfoil"]) == 4
    assert sentence in " ".join(capsys.readouterr().err.split())
    assert not Path("score.cfoil").exists()
