"""Answers: what a model gives is VERIFIED; each lie is DISPUTED at its token, or REFUSED in a sentence."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from msgspec import structs
from safetensors.torch import load_file, save_file

from counterfoil.answers.check import CheckedAnswer, check_answer
from counterfoil.answers.draw import Choice
from counterfoil.answers.making import Asked, answer, padded
from counterfoil.answers.model import AnsweringModel, Passes, load_answering
from counterfoil.answers.question import Question, commitment_of, new_nonce, seed_of
from counterfoil.cli import main
from counterfoil.signing.kinds import AnswerStatement, Sampling
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CounterfoilError, DataError, RefusedError, SignatureError
from counterfoil_core.base.generators import finish
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.signing.statements import open_said, sign_said
from counterfoil_core.values.outcome import Outcome
from support import small_models
from support.bundles import test_key

pytest.importorskip("transformers", reason="the library transformers is not installed")

PROMPT = "the auditor replays"
WARM = Sampling("0.8", 40, "0.95")
ROWS, MATRIX = ExactPrecision(20, rows=True), ExactPrecision(20)
NONCE = "5" * 64
"""The provider's."""
MACHINE = open_machine("cpu", 1)


def question(sampling: Sampling | None = None, most: int = 10, prompt: str = PROMPT) -> Question:
    """A question whose answer is the same in each test."""
    return Question(prompt, most, sampling, "7" * 64, None if sampling is None else commitment_of(NONCE))


def answered(model: AnsweringModel, asked: Question) -> AnswerStatement:
    """What an honest provider says."""
    nonce = None if asked.sampling is None else NONCE
    return finish(answer(Asked(model, asked, ROWS, MACHINE, nonce)))


@dataclass(frozen=True)
class Honest:
    """A model in its folder, and what it answered."""

    folder: Path
    model: AnsweringModel
    greedy: AnswerStatement
    drawn: AnswerStatement

    def check(self, said: AnswerStatement, asked: Question | None = None) -> CheckedAnswer:
        """Check an answer with the honest model."""
        return check_answer(said, self.model, MACHINE, asked)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Honest:
    """A GPT-2 whose probabilities differ much, as those of a trained one do."""
    folder = small_models.gpt2(tmp_path_factory.mktemp("models") / "gpt2", n_layer=2, initializer_range=0.3)
    model = load_answering(folder)
    return Honest(folder, model, answered(model, question()), answered(model, question(WARM)))


def changed(folder: Path, path: Path, change: Any) -> AnsweringModel:
    """The same model with other weights."""
    shutil.copytree(folder, path)
    weights = load_file(path / "model.safetensors")
    change(weights)
    save_file(weights, path / "model.safetensors", {"format": "pt"})
    return load_answering(path)


def up(weights: torch.Tensor) -> None:
    """Move weights by one unit in the last place."""
    weights.copy_(torch.nextafter(weights, torch.full_like(weights, 9.0)))


def test_an_honest_answer_is_verified_drawn_or_not(honest: Honest) -> None:
    assert honest.check(honest.greedy, question()).outcome is Outcome.VERIFIED
    assert honest.check(honest.drawn, question(WARM)).outcome is Outcome.VERIFIED
    assert len(honest.drawn.tokens) == 10
    assert honest.drawn.tokens != honest.greedy.tokens


def test_the_model_is_named_as_an_evaluation_names_it(honest: Honest, tmp_path: Path) -> None:
    from counterfoil.training.huggingface import FineTuning, prepare_huggingface
    from counterfoil_core.commit.state import state_root

    (tmp_path / "test.jsonl").write_text(json.dumps({"text": PROMPT}) + "\n")
    settings = FineTuning(batch_size=1, precision=ROWS)
    draft = finish(prepare_huggingface(honest.folder, tmp_path / "test.jsonl", settings, evaluates=True)).draft
    model = {name: array for name, array in draft.initial.items() if not name.startswith("score:")}
    assert state_root(model) == honest.greedy.model_root


@pytest.mark.parametrize("drawn", [False, True])
def test_a_token_that_was_forged_is_disputed_where_it_stands(honest: Honest, *, drawn: bool) -> None:
    said = honest.drawn if drawn else honest.greedy
    tokens = list(said.tokens)
    tokens[6] = (tokens[6] + 1) % honest.model.vocabulary or 1
    found = honest.check(structs.replace(said, tokens=tuple(tokens)))
    assert found.outcome is Outcome.DISPUTED
    assert found.difference is not None
    assert (found.difference.number, found.difference.said, found.difference.found) == (7, tokens[6], said.tokens[6])
    assert 0 < found.difference.said_probability < 1
    assert "Token 7 of the answer is" in found.said


def test_logits_that_were_forged_are_disputed_although_the_token_is_right(honest: Honest) -> None:
    rows = list(honest.greedy.rows)
    rows[6] = Digest.of(b"other logits")
    found = honest.check(structs.replace(honest.greedy, rows=tuple(rows)))
    assert found.outcome is Outcome.DISPUTED
    assert found.difference is not None
    assert found.difference.number == 7
    assert "its logits are not" in found.said


def test_nobody_is_disputed_by_a_machine_that_contradicts_itself(
    honest: Honest, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Passes.run

    def otherwise(passes: Passes, tokens: tuple[int, ...], first: int) -> torch.Tensor:
        found = run(passes, tokens, first)
        return found if passes._compute is None else found + 1

    monkeypatch.setattr(Passes, "run", otherwise)
    assert honest.check(honest.greedy).outcome is Outcome.VERIFIED
    lie = structs.replace(honest.greedy, rows=(Digest.of(b"others"), *honest.greedy.rows[1:]))
    assert honest.check(lie).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    "other", [Sampling("1.6", 40, "0.95"), Sampling("0.8", 1, "0.95"), Sampling("0.8", 40, "0.000001"), None]
)
def test_other_sampling_than_was_said_is_disputed(honest: Honest, other: Sampling | None) -> None:
    nonce = None if other is None else NONCE
    found = honest.check(structs.replace(honest.drawn, sampling=other, provider_nonce=nonce))
    assert found.outcome is Outcome.DISPUTED
    with pytest.raises(RefusedError, match="another question"):
        honest.check(structs.replace(honest.drawn, sampling=other, provider_nonce=nonce), question(WARM))


def test_weights_that_differ_by_one_ulp_are_refused_or_disputed(honest: Honest, tmp_path: Path) -> None:
    one = changed(
        honest.folder, tmp_path / "one", lambda weights: up(weights["transformer.h.0.mlp.c_fc.weight"][0, :1])
    )
    with pytest.raises(RefusedError, match="another model"):
        check_answer(honest.greedy, one, MACHINE)
    # Whoever signs another model's root is found where the difference reaches a logit. A product keeps 20 bits of a
    # weight: one ulp of one element of a matrix is not among them, and is no other answer.
    every = changed(honest.folder, tmp_path / "every", lambda weights: [up(weight) for weight in weights.values()])
    for other, outcome in ((every, Outcome.DISPUTED), (one, Outcome.VERIFIED)):
        lie = structs.replace(answered(other, question()), model_root=honest.greedy.model_root)
        assert honest.check(lie, question()).outcome is outcome


def test_another_tokenizer_is_refused(honest: Honest, tmp_path: Path) -> None:
    shutil.copytree(honest.folder, tmp_path / "other")
    file = tmp_path / "other" / "tokenizer.json"
    words = json.loads(file.read_text())
    words["model"]["merges"] = words["model"]["merges"][:-1]
    file.write_text(json.dumps(words))
    with pytest.raises(RefusedError, match="another tokenizer"):
        check_answer(honest.greedy, load_answering(tmp_path / "other"), MACHINE)


def test_logits_that_are_not_numbers_end_in_a_sentence(honest: Honest, tmp_path: Path) -> None:
    def spoil(weights: dict[str, torch.Tensor]) -> None:
        weights["transformer.ln_f.weight"][0] = torch.nan

    model = changed(honest.folder, tmp_path / "spoiled", spoil)
    with pytest.raises(CounterfoilError, match="not a number"):
        answered(model, question())
    root = model.pass_of(2, honest.greedy.length, ROWS).model_root
    with pytest.raises(RefusedError, match="gives no logits"):
        check_answer(structs.replace(honest.greedy, model_root=root), model, MACHINE)


def test_what_does_not_fit_the_model_ends_in_a_sentence(honest: Honest, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="sees 48 at most"):
        answered(honest.model, question(most=small_models.CONTEXT))
    with pytest.raises(DataError, match="sees 48 at most"):
        answered(honest.model, question(prompt=PROMPT * 20))
    with pytest.raises(RefusedError, match="sees 48 at most"):
        honest.check(structs.replace(honest.greedy, most=100, tokens=honest.greedy.tokens))
    with pytest.raises(RefusedError, match="none of the model's"):
        honest.check(structs.replace(honest.greedy, prompt=(10**6,)))
    with pytest.raises(RefusedError, match="ends by other tokens"):
        honest.check(structs.replace(honest.greedy, ends=()))
    with pytest.raises(RefusedError, match="another program"):
        honest.check(structs.replace(honest.greedy, program=Digest.of(b"")))
    with pytest.raises(RefusedError, match="hangs on others"):
        honest.check(structs.replace(honest.greedy, precision="float64-24"))
    with pytest.raises(DataError, match="another nonce"):
        finish(answer(Asked(honest.model, question(WARM), ROWS, MACHINE, "6" * 64)))
    with pytest.raises(DataError, match="no folder"):
        load_answering(tmp_path / "nowhere")


def test_a_profile_that_does_not_keep_rows_apart_is_found_before_anything_is_signed(honest: Honest) -> None:
    with pytest.raises(DataError, match="gives other logits for token"):
        finish(answer(Asked(honest.model, question(), MATRIX, MACHINE)))


def test_a_provider_cannot_choose_its_luck(honest: Honest) -> None:
    asked = question(WARM)
    other = Question(asked.prompt, asked.most, WARM, asked.nonce, commitment_of("6" * 64))
    lie = structs.replace(honest.drawn, question=other.digest)
    with pytest.raises(RefusedError, match="bound to"):
        honest.check(lie, other)
    assert honest.check(lie).outcome is Outcome.DISPUTED  # the seed hangs on the question too
    seeds = {
        seed_of(Digest.of(root), Digest.of(one), client, provider)
        for root in (b"a", b"b")
        for one in (b"c", b"d")
        for client in ("1" * 64, "2" * 64)
        for provider in ("1" * 64, "2" * 64)
    }
    assert len(seeds) == 16


def test_a_statement_says_all_of_it_and_contradictions_are_refused(honest: Honest, tmp_path: Path) -> None:
    key = test_key(tmp_path)
    assert open_said(AnswerStatement, sign_said(honest.drawn, key)).tokens == honest.drawn.tokens
    for lie in (
        {"tokens": honest.drawn.tokens[:5], "rows": honest.drawn.rows[:5]},
        {"rows": honest.drawn.rows[:5]},
        {"provider_nonce": None},
        {"ends": (3, 1)},
        {"ends": honest.drawn.tokens[:1]},
        {"sampling": Sampling("0", None, None)},
        {"sampling": Sampling("1", None, "1.5")},
    ):
        with pytest.raises(SignatureError):
            sign_said(structs.replace(honest.drawn, **lie), key)


@pytest.mark.parametrize("junk", [b"", b"{}", b"[1]", b"\xff", b'{"format":"counterfoil-question-1"}'])
def test_a_file_that_holds_no_question_is_a_sentence(junk: bytes) -> None:
    with pytest.raises(DataError, match="holds no question"):
        Question.read(junk)


def test_draws_follow_the_probabilities_that_top_k_and_top_p_leave() -> None:
    row = torch.tensor([0.0, 2.0, 1.0, 2.0, -1.0])
    shares = torch.softmax(row / 0.7, 0).double()
    kept = {None: shares, 2: torch.tensor([0, 1, 0, 1, 0.0])}
    for top_k, expected in kept.items():
        choice = Choice.of(Sampling("0.7", top_k, None), 5, 3, MACHINE, ROWS)
        counts = np.bincount([choice.token(row, number) for number in range(1, 1501)], minlength=5)
        given = (expected / expected.sum() * 1500).numpy()
        assert (np.abs(counts - given) <= 5 * np.sqrt(given) + 1e-9).all(), (counts, given)
    nearly = Choice.of(Sampling("0.7", None, "0.75"), 5, 3, MACHINE, ROWS)
    assert {nearly.token(row, number) for number in range(1, 200)} == {1, 3}
    assert Choice.of(None, 5, 3, MACHINE, ROWS).token(row, 1) == 1  # the first of equals


def test_commands_ask_answer_and_check(honest: Honest, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = test_key(tmp_path)
    names = ("answer.nonce", "question.json", "answer.json", "trainer.pem", "trainer.pub.pem")
    nonce, asked, said, private, public = (str(tmp_path / name) for name in names)

    def run(*command: str) -> tuple[int, str]:
        code = main([*command])
        shown = capsys.readouterr()
        return code, " ".join((shown.out + shown.err).split())

    code, shown = run("answer-nonce", "--out", nonce)
    commitment = shown.split()[-1]
    assert (code, commitment) == (0, commitment_of(Path(nonce).read_text().strip()))
    drawing = ("--temperature", "0.9", "--commitment", commitment)
    assert run("ask", "--prompt", PROMPT, "--tokens", "8", *drawing, "--out", asked)[0] == 0
    folder = str(honest.folder)
    making = ("answer", folder, asked, "--key", private, "--out", said)
    assert "commitment to another nonce" in run(*making)[1]
    code, shown = run(*making, "--nonce", nonce)
    assert code == 0, shown
    checking = ("check-answer", said, folder, "--question", asked, "--key", public, "--trust", "none")
    code, shown = run(*checking)
    assert code == 0, shown
    assert "VERIFIED The model gives each of the 8 tokens" in shown
    honestly = open_said(AnswerStatement, Path(said).read_bytes())
    tokens = list(honestly.tokens)
    tokens[6] ^= 1
    forged = structs.replace(honestly, tokens=tuple(tokens), public_key="", signed_at="")
    Path(said).write_bytes(sign_said(forged, key))
    code, shown = run(*checking)
    assert code == 1
    assert "DISPUTED Token 7 of the answer is" in shown
    right, wrong = honest.model.text(honestly.tokens[:6]), honest.model.named(tokens[6])
    assert f"right so far {' '.join(repr(right).split())} token 7 {' '.join(wrong.split())}, probability" in shown
    code = main([*checking, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert (code, found["outcome"], found["difference"]["number"]) == (1, "DISPUTED", 7)
    Path(said).write_bytes(b"no answer")
    assert run(*checking)[0] == 3


@pytest.mark.parametrize("capability", ["default", pytest.param("avx2", marks=pytest.mark.slow)])
def test_other_instructions_and_threads_give_the_same_answer(honest: Honest, tmp_path: Path, capability: str) -> None:
    (tmp_path / "answer.json").write_bytes(sign_said(honest.drawn, test_key(tmp_path)))
    command = ("check-answer", "answer.json", str(honest.folder), "--trust", "none", "--threads", "2")
    done = subprocess.run(
        [sys.executable, "-m", "counterfoil", *command],
        cwd=tmp_path,
        env={**os.environ, "ATEN_CPU_CAPABILITY": capability, "ONEDNN_MAX_CPU_ISA": "SSE41"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "options",
    [
        ("--temperature", "0.8"),
        ("--commitment", "5" * 64),
        ("--top-k", "3"),
        ("--temperature", "warm", "--commitment", "5" * 64),
        ("--temperature", "0.8", "--commitment", "5"),
        ("--temperature", "0", "--commitment", "5" * 64),
    ],
)
def test_a_question_that_says_half_of_it_is_not_written(options: tuple[str, ...], tmp_path: Path) -> None:
    assert main(["ask", "--prompt", PROMPT, "--out", str(tmp_path / "q.json"), *options]) != 0
    assert not (tmp_path / "q.json").exists()


FAMILIES = ("llama", "qwen2", "qwen3", "gemma", "gemma2", "gemma3", "mistral")


@pytest.mark.parametrize("family", [pytest.param(name, marks=pytest.mark.slow) for name in FAMILIES[1:]] + ["llama"])
def test_one_pass_gives_what_kept_keys_and_values_give(family: str, tmp_path: Path) -> None:
    model = load_answering(small_models.family(tmp_path / family, family))
    said = answered(model, question(most=12))
    assert check_answer(said, model, MACHINE, question(most=12)).outcome is Outcome.VERIFIED
    # With a future that was not there the logits are the same; with another past they are not.
    captured = model.pass_of(said.length, said.length, ROWS)
    place = len(said.prompt)
    plain, future, past, far = (
        Passes(captured, MACHINE, ROWS).run(padded(tokens, said.length), 0)[: place + 1]
        for tokens in (
            (*said.prompt, said.tokens[0]),
            (*said.prompt, *said.tokens),
            (*said.prompt[:-1], 9, said.tokens[0]),
            (9, *said.prompt[1:], said.tokens[0]),
        )
    )
    assert torch.equal(plain, future)
    assert not torch.equal(plain[place], past[place])
    # A window of six tokens does not reach back to the first.
    assert torch.equal(plain[place], far[place]) == (family == "mistral")
    with torch.no_grad():
        ordinary = model.module(torch.tensor([[*said.prompt, said.tokens[0]]])).logits[0]
    torch.testing.assert_close(plain, ordinary, atol=2e-4, rtol=1e-3)


def test_a_nonce_is_new_each_time() -> None:
    assert new_nonce() != new_nonce()
