"""What a model scores: counted by the run, by torch itself, and again by an audit; lies are disputed or not told."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil import NO_TRUST, open_judgement
from counterfoil.audit.runfacts import facts_of
from counterfoil.audit.runrules import given_verdict, read_rules, subject_of
from counterfoil.audit.values.delivery import DeliveryOutcome
from counterfoil.audit.values.figures import score_said
from counterfoil.audit.values.runrules import RuleOutcome, check_rules
from counterfoil.base.joberrors import WeightsError
from counterfoil.cli import main
from counterfoil.delivery.export import export_weights
from counterfoil.exports.modelcard import model_card
from counterfoil.exports.summary import properties
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil.training.evaluation import Evaluation, classification_counts, read_weights, token_counts
from counterfoil.training.huggingface import FineTuning, Task, order_huggingface, prepare_huggingface
from counterfoil.training.order import OrderDraft
from counterfoil.training.tamper import LabelFlip, Tamper
from counterfoil.training.trial import Trial
from counterfoil_core.arithmetic.compute.interpreter import StepInputs
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.generators import finish
from counterfoil_core.base.precision import PROFILES, ExactPrecision
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.commit.state import state_root
from counterfoil_core.operators.node import Value
from counterfoil_core.order.evaluation import score_names
from counterfoil_core.program.graph import Program
from counterfoil_core.statement.factfields import facts_from, fields_of
from counterfoil_core.statement.verdict import sign_verdict, verify_verdict
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.report import AuditReport
from counterfoil_core.values.runfacts import Score, ScoreCount
from counterfoil_resources.digits import load_digits
from independent.bundle import Bundle, RefusedError, leaf
from independent.exact import replayer_of
from independent.score import score as second_score
from support import small_models
from support.delivered import compared
from support.jobs import audited, record_run

ROWS, BATCH = 150, 64
INCONCLUSIVE = 2
"""The exit code of a comparison of weights without a verdict."""
TRAINER, AUDITOR = key_from_seed(b"\6" * 32), key_from_seed(b"\7" * 32)


def model() -> nn.Module:
    """A classifier that is right now and then."""
    torch.manual_seed(3)
    return nn.Sequential(
        nn.Flatten(), nn.Linear(64, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(), nn.Linear(16, 10)
    )


def counts(scored: nn.Module, batch: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    return classification_counts(scored(batch["images"].float() * (1 / 16)), batch["labels"])


def data() -> dict[str, np.ndarray]:
    images, labels = load_digits()
    return {"images": images[:ROWS], "labels": labels[:ROWS]}


@pytest.fixture(scope="module")
def order(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("evaluation") / "score.cfoil"
    Evaluation("digits, scored", model(), counts, data(), BATCH).draft(PROFILES["exact-20"]).write(path, trial=False)
    return path


def run_of(order: Path, name: str, tamper: Tamper | None = None) -> Path:
    return record_run(order, order.with_name(name), TRAINER, tamper=tamper)


@pytest.fixture(scope="module")
def run(order: Path) -> Path:
    return run_of(order, "run.cfoil")


@pytest.fixture(scope="module")
def report(run: Path, order: Path) -> AuditReport:
    return audited(run, order).report


def _spoil(weights: Path) -> None:
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)


def score_in(run: Path) -> Score:
    score = facts_of(run).score
    assert score is not None
    return score


def test_the_score_is_what_torch_counts(run: Path) -> None:
    score, given = score_in(run), data()
    with torch.no_grad():
        logits = model().double().eval()(torch.from_numpy(given["images"]).double() / 16)
    labels = torch.from_numpy(given["labels"])
    assert (score.count("counted"), score.count("correct")) == (ROWS, int((logits.argmax(1) == labels).sum()))
    confusion = np.zeros((10, 10), np.int64)
    np.add.at(confusion, (given["labels"], logits.argmax(1).numpy()), 1)
    assert next(one.values for one in score.counts if one.name == "confusion") == tuple(confusion.flat)
    mean = float(functional.cross_entropy(logits, labels))
    assert float(score.metrics["perplexity"]) == pytest.approx(math.exp(mean), rel=1e-4)


def test_the_trial_of_an_order_says_what_its_first_step_counts() -> None:
    draft = Evaluation("digits, scored", model(), counts, data(), BATCH).draft(PROFILES["exact-20"])
    *_, trial = draft.try_first_step()
    assert isinstance(trial, Trial)
    told = dict(trial.scores)
    first = {name: torch.from_numpy(array[:BATCH]) for name, array in data().items()}
    with torch.no_grad():
        right = int((model().eval()(first["images"].float() / 16).argmax(1) == first["labels"]).sum())
    assert told == {"counted": BATCH, "correct": right}
    assert trial.shown_loss == trial.loss > 0
    # Where nothing is added up, 0 is no loss.
    assert replace(trial, loss=0.0).shown_loss is None
    assert replace(trial, loss=0.0, scores=()).shown_loss == 0.0


def test_model_and_data_are_named_by_their_roots(run: Path, order: Path) -> None:
    score = score_in(run)
    state = {name: tensor.detach().numpy() for name, tensor in model().state_dict().items()}
    assert score.model_root == state_root(state)
    with BundleReader.open(order) as reader:
        assert score.data_root == reader.manifest.data_root == state_root(data())


def test_a_replay_verifies_it_and_the_verdict_states_it(report: AuditReport, run: Path) -> None:
    assert report.outcome is Outcome.VERIFIED
    assert report.facts is not None
    assert report.facts.score == score_in(run)
    verdict = verify_verdict(sign_verdict(report, AUDITOR), AUDITOR.public)
    assert verdict.run_facts is not None
    assert verdict.run_facts.score == report.facts.score
    said = score_said(report.facts.score)
    assert f"of {ROWS} right" in said
    assert report.facts.score.model_root.hex in model_card(verdict, "k.pem", "v.json")
    assert any(each.startswith("COUNTERFOIL_EVALUATION_") for each in properties(verdict))


def test_control_another_label_or_another_weight_is_disputed(order: Path, run: Path) -> None:
    def one_ulp(inputs: StepInputs) -> StepInputs:
        weight = inputs.state["5.weight"].clone()
        weight[0, 0] = torch.nextafter(weight[0, 0], torch.tensor(torch.inf, dtype=weight.dtype))
        return replace(inputs, state={**inputs.state, "5.weight": weight})

    for name, tamper, step in (("labels.cfoil", LabelFlip(2), 2), ("weights.cfoil", one_ulp, 1)):
        lying = run_of(order, name, tamper)
        report = audited(lying, order).report
        assert report.outcome is Outcome.DISPUTED, name
        assert report.dispute is not None
        assert report.dispute.step == step


def test_the_rounded_profile_counts_the_same(tmp_path: Path, run: Path) -> None:
    path = tmp_path / "rounded.cfoil"
    Evaluation("rounded", model(), counts, data(), BATCH).draft().write(path, trial=False)
    rounded, exact = score_in(run_of(path, "rounded-run.cfoil")), score_in(run)
    assert rounded.count("correct") == exact.count("correct")
    assert rounded.model_root == exact.model_root


def test_every_row_counts_once(run: Path) -> None:
    for use in facts_of(run).data:
        assert (use.rows_read, use.distinct_rows) == (ROWS, ROWS)
        assert use.filling_rows == -ROWS % BATCH


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that scores one layer, whose operators the second implementation has."""
    torch.manual_seed(1)
    path = tmp_path_factory.mktemp("second") / "score.cfoil"
    given = {name: array[:50].reshape(50, -1).squeeze() for name, array in data().items()}
    Evaluation("one layer", nn.Linear(64, 10), counts, given, 20).draft(ExactPrecision(20)).write(path, trial=False)
    return run_of(path, "run.cfoil")


class TestBySecondImplementation:
    """An implementation that shares no code with this one reads the score, and replays each step of it."""

    def test_it_reads_the_same(self, scored: Path) -> None:
        bundle, ours = Bundle(scored), score_in(scored)
        bundle.check_order()
        bundle.check_run()
        theirs = second_score(bundle)
        assert (theirs["model_root"], theirs["data_root"]) == (ours.model_root.hex, ours.data_root.hex)
        assert {one.name: one.values for one in ours.counts} == {
            name: tuple(array.flat) for name, array in theirs["counts"].items()
        }

    def test_it_replays_every_step(self, scored: Path) -> None:
        bundle = Bundle(scored)
        state = bundle.group("order/initial")
        for step in range(1, bundle.steps + 1):
            result, found = replayer_of(bundle, bundle.turn(step)).replay(step, state)
            assert found == leaf(bundle.record(step))
            state = result.state
        assert all(
            np.array_equal(state[f"score:{name}"], count) for name, count in second_score(bundle)["counts"].items()
        )

    def test_control_a_score_that_is_one_too_high_is_no_state_of_the_run(self, scored: Path) -> None:
        bundle = Bundle(scored)
        bundle.arrays[f"run/checkpoints/{bundle.steps:010d}/score:correct"] += 1
        with pytest.raises(RefusedError, match="another last state"):
            second_score(bundle)


def test_rules_on_a_score(run: Path, report: AuditReport, tmp_path: Path) -> None:
    def outcome(text: str, *, judged: bool = True) -> RuleOutcome:
        path = tmp_path / "rules.toml"
        path.write_text(f'{text}\n[verdict]\nauditors = ["{AUDITOR.public.key_id}"]\n', encoding="utf-8")
        rules, _ = read_rules(path)
        given = given_verdict(open_judgement(sign_verdict(report, AUDITOR), NO_TRUST, [AUDITOR.public]))
        results = check_rules(rules, subject_of(run, [given] if judged else []))
        return next(one.outcome for one in results if one.rule.startswith("performance.score"))

    accuracy = float(score_in(run).metrics["accuracy"])
    wide = f"[performance.score]\naccuracy = [{accuracy - 0.01}, 1.0]"
    assert outcome(wide) is RuleOutcome.HELD
    assert outcome(wide, judged=False) is RuleOutcome.CANNOT_BE_TOLD
    assert outcome(f"[performance.score]\naccuracy = [{accuracy + 0.01}, 1.0]") is RuleOutcome.BROKEN
    assert outcome(f"[performance.score]\ncorrect = [0, {ROWS}]") is RuleOutcome.HELD
    assert outcome("[performance.score]\nbleu = [0, 1]") is RuleOutcome.CANNOT_BE_TOLD


def test_a_statement_of_a_stranger_cannot_break_the_reading_of_it() -> None:
    for shape, values in (((), ()), ((10, 10), (1,)), ((2**40, 2**40), (1, 2)), ((0, 0), ())):
        for name in ("correct", "counted", "confusion"):
            score = Score(state_root({}), state_root({}), (ScoreCount(name, shape, values),))
            assert score.count(name) is None
            assert set(score.metrics) <= {"macro_f1"}
            assert score_said(score)


def test_facts_come_back_from_their_fields(run: Path) -> None:
    facts = facts_of(run)
    assert facts_from(fields_of(facts)) == facts


def test_macro_f1_of_a_class_that_nobody_names_is_zero() -> None:
    score = Score(state_root({}), state_root({}), (ScoreCount("confusion", (3, 3), (2, 1, 0, 0, 1, 0, 0, 0, 0)),))
    # Class 0: TP 2, FN 1, FP 0; class 1: TP 1, FN 0, FP 1; class 2: nothing.
    assert score.metrics["macro_f1"] == (Decimal(4) / 5 + Decimal(2) / 3 + 0) / 3


@pytest.mark.parametrize(
    ("nats", "said"),
    [
        (3 * 2**20, "perplexity 20.0855"),
        (2**30, "perplexity inf"),  # a mean loss of 1,024: more than a float holds
        # Beyond what a loss can be: an exponential that nobody could write down.
        (2**30 + 1, "counted 1, nats 1,073,741,825"),
        (2**62, "counted 1, nats 4,611,686,018,427,387,904"),
    ],
)
def test_whatever_loss_a_stranger_states_ends_in_words(nats: int, said: str) -> None:
    score = Score(state_root({}), state_root({}), (ScoreCount("counted", (), (1,)), ScoreCount("nats", (), (nats,))))
    assert str(score_said(score)) == said


def test_a_training_has_no_score() -> None:
    weights = {"weight": Value(0), "score:correct": Value(1)}
    training = [Program((), (), weights, Value(2))]
    assert score_names(training) == ()
    assert score_names([Program((), (), {"score:correct": Value(1)}, Value(2))]) == ("score:correct",)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({}, "Nothing is counted"),
        ({"loss": torch.zeros(())}, "Nothing is counted"),
        ({"right": torch.zeros(())}, "'right' is torch.float32"),
        ({"right": 3}, "'right' is int"),
        ({"a b": torch.zeros((), dtype=torch.int64)}, "named 'a b'"),
        ({"pairs": torch.zeros(101, 101, dtype=torch.int64)}, "more than 10,000 numbers"),
        ([], "of the type list"),
    ],
)
def test_what_cannot_be_counted_is_a_sentence(found: object, said: str) -> None:
    job = Evaluation("x", model(), lambda _model, _batch: found, data(), BATCH)  # type: ignore[arg-type,return-value]
    with pytest.raises(DataError, match=said):
        job.draft()


def test_no_rows_are_a_sentence() -> None:
    none = {name: array[:0] for name, array in data().items()}
    with pytest.raises(DataError, match="no rows"):
        Evaluation("x", model(), counts, none, BATCH).draft()


def test_there_is_nothing_to_recompute_and_nothing_to_divide() -> None:
    job = Evaluation("x", model(), counts, data(), BATCH)
    with pytest.raises(DataError, match="no backward pass"):
        finish(job.drafting(recompute_activations="auto"))
    with pytest.raises(DataError, match="cannot be divided"):
        job.divided(2)


def test_the_clients_model_stays_as_it_is() -> None:
    own = model()
    before = {name: tensor.clone() for name, tensor in own.state_dict().items()}
    Evaluation("x", own, counts, data(), BATCH).draft(ExactPrecision(20))
    assert own.training
    assert all(one.requires_grad for one in own.parameters())
    assert all(torch.equal(tensor, own.state_dict()[name]) for name, tensor in before.items())
    assert own.state_dict().keys() == before.keys()


def test_tokens_are_counted_as_torch_counts_them() -> None:
    logits, tokens = (
        torch.randn(2, 5, 7, generator=torch.Generator().manual_seed(1)),
        torch.arange(10).reshape(2, 5) % 7,
    )
    tokens[1, 3] = -100
    found = token_counts(logits, tokens)
    losses = functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), reduction="none")
    assert int(found["counted"]) == 7
    assert int(found["correct"]) == int((logits[:, :-1].argmax(-1) == tokens[:, 1:]).sum())
    assert int(found["nats"]) == int((losses.double() * 2**20).round().sum())


class TestHuggingFace:
    """A folder of a model, scored on a file of rows, with its own weights or those of a run."""

    @pytest.fixture(autouse=True)
    def _library(self) -> None:
        pytest.importorskip("transformers", reason="the library transformers is not installed")

    def draft(self, folder: Path, rows: list[dict[str, str]], **given: object) -> OrderDraft:
        data = folder.with_suffix(".jsonl")
        data.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        weights = given.pop("weights", None)
        settings = FineTuning(batch_size=2, precision=ExactPrecision(20), **given)  # type: ignore[arg-type]
        return finish(prepare_huggingface(folder, data, settings, evaluates=True, weights=weights)).draft  # type: ignore[arg-type]

    def test_a_language_model(self, tmp_path: Path) -> None:
        import transformers

        folder = small_models.gpt2(tmp_path / "gpt2")
        rows = [{"text": text} for text in small_models.SENTENCES[:3]]
        order = tmp_path / "order.cfoil"
        draft = self.draft(folder, rows)
        draft.write(order, trial=False)
        score = score_in(run_of(order, "run.cfoil"))
        scored = transformers.GPT2LMHeadModel.from_pretrained(folder).double().eval()
        total, right, count = 0.0, 0, 0
        for tokens, mask in zip(draft.data["input_ids"], draft.data["attention_mask"], strict=True):
            kept = torch.from_numpy(tokens[mask.astype(bool)]).to(torch.int64)
            with torch.no_grad():
                logits = scored(kept[None]).logits[0, :-1]
            total += float(functional.cross_entropy(logits, kept[1:], reduction="sum"))
            right, count = right + int((logits.argmax(-1) == kept[1:]).sum()), count + len(kept) - 1
        assert (score.count("counted"), score.count("correct")) == (count, right)
        assert float(score.metrics["perplexity"]) == pytest.approx(math.exp(total / count), rel=1e-4)

    def test_a_classifier_and_the_weights_of_a_run(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        folder = small_models.bert(tmp_path / "bert", classes=3)
        rows = [{"text": text, "label": number % 3} for number, text in enumerate(small_models.SENTENCES)]
        order, run = tmp_path / "train.cfoil", tmp_path / "trained.cfoil"
        data = tmp_path / "train.jsonl"
        data.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        order_huggingface(folder, data, FineTuning(steps=2, batch_size=2)).write(order, trial=False)
        record_run(order, run, TRAINER)
        scored = tmp_path / "score.cfoil"
        words = ["order", "evaluate", str(folder), "--data", str(data), "--weights", str(run), "--out", str(scored)]
        assert main([*words, "--batch-size", "2", "--no-trial", "--precision", "exact-20"]) == 0
        with BundleReader.open(run) as trained, BundleReader.open(scored) as evaluation:
            state = evaluation.initial_state()
            last = trained.checkpoint(2)
            assert all(np.array_equal(state[name], last[name]) for name in state if not name.startswith("score:"))
            named = evaluation.manifest.sources["weights"].files
        # A verdict on the training names the same file.
        assert {name: file.digest for name, file in named.items()} == {"trained.cfoil": Digest.of_file(run)}
        evaluated = run_of(scored, "run.cfoil")
        assert score_in(evaluated).count("counted") == len(rows)
        # What was scored is what was trained, as far as weights without a verdict can be.
        assert main(["verify-weights", str(scored), str(run)]) == INCONCLUSIVE
        capsys.readouterr()
        report = compared(evaluated, run)
        assert report.outcome is DeliveryOutcome.DELIVERED
        assert report.scored == score_in(evaluated).model_root
        assert [(file.name, file.digest) for file in report.files] == [("run.cfoil", Digest.of(evaluated.read_bytes()))]
        # Control: one bit of one weight is another.
        assert main(["export", str(run), "--safetensors", str(tmp_path / "trained")]) == 0
        _spoil(tmp_path / "trained" / "model.safetensors")
        words[words.index("--weights") + 1] = str(tmp_path / "trained" / "model.safetensors")
        assert main([*words, "--batch-size", "2", "--no-trial", "--force"]) == 0
        other = compared(scored, run)
        assert other.outcome is DeliveryOutcome.DIFFERENT
        assert [one.differing for one in other.differing] == [1]
        assert other.scored is not None
        assert other.scored != report.scored
        with pytest.raises(WeightsError, match="its steps train"):
            compared(run, run)

    def test_what_was_drawn_at_random_scores_nothing(self, tmp_path: Path) -> None:
        folder = small_models.bert(tmp_path / "bert")
        with pytest.raises(DataError, match="lack"):
            self.draft(folder, [{"text": "a", "label": "x"}, {"text": "b", "label": "y"}], task=Task.CLASSIFICATION)

    def test_weights_of_another_model_are_refused(self, tmp_path: Path, run: Path) -> None:
        folder = small_models.gpt2(tmp_path / "gpt2")
        for _ in export_weights(run, tmp_path / "other"):
            pass
        with pytest.raises(DataError, match="model"):
            self.draft(
                folder, [{"text": "a b c d"}] * 2, weights=read_weights(tmp_path / "other" / "model.safetensors")
            )
