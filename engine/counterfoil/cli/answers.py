"""``counterfoil ask``, ``answer-nonce``, ``answer`` and ``check-answer``: what a model answered, and whether it did."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.base.wholefiles import write_whole
from counterfoil.cli import terminal
from counterfoil.cli.exits import ExitWith
from counterfoil.cli.jsonform import print_json
from counterfoil.cli.options import MAX_VERDICT_BYTES, Device, JsonOption, NewFile
from counterfoil.cli.order_options import ProfileName
from counterfoil.cli.places import READS, READS_FOLDER
from counterfoil.cli.reader import Reader, refuse_invalid
from counterfoil.cli.reports import OUTCOME_STYLES, show_facts
from counterfoil.cli.signedfile import SignedFile
from counterfoil.cli.stages import show_stages
from counterfoil.cli.terminal import markup
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.precision import PROFILES, is_by_rows
from counterfoil_core.signing.keys import load_public_key
from counterfoil_core.values.outcome import Outcome

if TYPE_CHECKING:
    from rich.console import Console

    from counterfoil.answers.check import Difference
    from counterfoil.answers.model import AnsweringModel
    from counterfoil.answers.question import Question
    from counterfoil.signing.kinds import AnswerStatement

ROWS = ProfileName("exact-20-rows")
"""The profile of an answer unless another is named."""
_MOST_NONCE = 1000
ModelArgument = Annotated[
    Path,
    READS_FOLDER,
    typer.Argument(
        metavar="MODEL_FOLDER",
        help="A local folder as for 'order hf'. Nothing is downloaded, and no code of it is run.",
        show_default=False,
    ),
]


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """How tokens are drawn; where none of these is given the most probable token is taken."""

    temperature: Annotated[
        str | None,
        typer.Option(help="Draw tokens, after logits are divided by this; 1 draws by the model's own probabilities."),
    ] = None
    top_k: Annotated[
        int | None, typer.Option(min=1, help="Draw from so many of the most probable tokens.", show_default="all")
    ] = None
    top_p: Annotated[
        str | None,
        typer.Option(help="Draw from the most probable tokens that have this probability together.", show_default="1"),
    ] = None
    commitment: Annotated[
        str | None,
        typer.Option(
            metavar="HEX",
            help="What binds the provider to its nonce: the 64 digits that its 'counterfoil answer-nonce' prints. It "
            "belongs to --temperature.",
            show_default=False,
        ),
    ] = None

    @property
    def asked(self) -> dict[str, object]:
        """What of a question says how tokens are drawn; raises BadParameter."""
        if (self.temperature is None) != (self.commitment is None):
            raise typer.BadParameter("--temperature and --commitment belong together: neither side chooses the luck.")
        if self.temperature is None and (self.top_k is not None or self.top_p is not None):
            raise typer.BadParameter("--top-k and --top-p belong to --temperature.")
        named = {"temperature": self.temperature, "top_k": self.top_k, "top_p": self.top_p}
        return {"sampling": None if self.temperature is None else named, "commitment": self.commitment}


def answer_nonce(file: NewFile) -> None:
    """Provider: draw a secret number for one answer, and print what binds you to it; the client's question names that.

    A nonce is for one question: whoever has seen it can choose a question by the luck that it brings.

    Example: counterfoil answer-nonce --out answer.nonce
    """
    from counterfoil.answers.question import commitment_of, new_nonce

    file.check()
    nonce = new_nonce()
    write_whole(file.out, f"{nonce}\n".encode(), what="the nonce", mode=0o600)
    console = terminal.console()
    console.print(f"Wrote {markup(str(file.out))} (secret until the answer). Give the client the commitment:")
    console.print(commitment_of(nonce), soft_wrap=True)


def ask(
    *,
    prompt: Annotated[str, typer.Option(help="The text.", show_default=False)],
    tokens: Annotated[int, typer.Option(min=1, help="How many tokens are asked for at most.")] = 64,
    drawing: Drawing,
    file: NewFile,
) -> None:
    """Client: write a question for a model, with a number that nobody foresees. Keep it: the answer names it.

    Example: counterfoil ask --prompt "Who audits the auditor?" --out question.json
    """
    from msgspec import ValidationError, convert

    from counterfoil.answers.question import Question, new_nonce

    file.check()
    try:
        question = convert({"prompt": prompt, "most": tokens, "nonce": new_nonce(), **drawing.asked}, Question)
    except ValidationError as error:
        raise typer.BadParameter(
            "--temperature and --top-p are decimal numbers such as 0.8, with up to six digits behind the point, and "
            "--commitment has 64 hexadecimal digits."
        ) from error
    question.check()
    write_whole(file.out, question.to_bytes(), what="the question")
    terminal.console().print(f"Wrote {markup(str(file.out))}. Keep it, and give the provider a copy.")


def answer(
    *,
    folder: ModelArgument,
    question: Annotated[
        Path, READS, typer.Argument(metavar="QUESTION", help="The client's question.", show_default=False)
    ],
    file: SignedFile,
    nonce: Annotated[
        Path | None,
        READS,
        typer.Option(help="Your nonce, to which the question names the commitment.", show_default=False),
    ] = None,
    verdict: Annotated[
        Path | None,
        READS,
        typer.Option(help="A verdict on the model's training, for the answer to name.", show_default=False),
    ] = None,
    precision: Annotated[
        ProfileName, typer.Option("--precision", help="How operators compute: a profile for rows.", metavar="NAME")
    ] = ROWS,
    device: Device,
) -> None:
    """Provider: let a model answer a question, token by token, so that anyone with the model can check each token.

    Example: counterfoil answer model-folder question.json --key provider.pem --out answer.json
    """
    with file.open("answer") as signer, cancel_on_interrupt() as cancel:
        from counterfoil.answers.making import Asked, answer as make
        from counterfoil.answers.model import load_answering
        from counterfoil.trust.afterwards import verdict_digest
        from counterfoil_core.arithmetic.machine import open_machine

        profile = PROFILES[precision.value]
        if not is_by_rows(profile):
            raise typer.BadParameter(f"An answer takes a profile for rows, such as {ROWS.value}.")
        asked = Asked(
            load_answering(folder),
            _question(question),
            profile,
            open_machine(device.device, device.threads),
            None if nonce is None else _nonce(nonce),
            None if verdict is None else verdict_digest(_read(verdict, "a verdict")),
        )
        said = show_stages(make(asked, cancel), "no answer was written")
        written = file.write(said, signer, "the answer")
    console = terminal.console()
    console.print(markup(asked.model.text(said.tokens)))
    console.print(written, soft_wrap=True)


def check_answer(
    *,
    answer: Annotated[
        Path, READS, typer.Argument(metavar="ANSWER", help="The answer, a .json file.", show_default=False)
    ],
    folder: ModelArgument,
    question: Annotated[
        Path | None,
        READS,
        typer.Option(help="The question as you, the client, kept it.", show_default=False),
    ] = None,
    key: Annotated[
        Path | None,
        READS,
        typer.Option(
            help="The provider's public key (.pub.pem); without it that which the answer names.", show_default=False
        ),
    ] = None,
    reader: Reader,
    device: Device,
    json: JsonOption = False,
) -> None:
    """Anyone: check in one pass whether a model gives each token of an answer, and say which it does not.

    Exit code 0 if the model gives each, 1 (DISPUTED) if not, 3 (REFUSED) if it is no answer of this model to this
    question.

    Example: counterfoil check-answer answer.json model-folder --question question.json
    """
    from counterfoil.answers.check import check_answer as check
    from counterfoil.answers.model import load_answering
    from counterfoil.signing.kinds import AnswerStatement
    from counterfoil.trust.validity import validity
    from counterfoil_core.arithmetic.machine import open_machine
    from counterfoil_core.signing.statements import open_said

    out = terminal.console(stderr=json)
    public = None if key is None else load_public_key(key)
    said = open_said(AnswerStatement, _read(answer, "an answer"), public)
    refuse_invalid(validity(reader.store, (said.key_id, said.signed_at)), "The answer")
    out.print(f"Signed {said.signed_at}, with the key {said.key_id}", soft_wrap=True)
    if public is None:
        out.print("It names that key itself: who holds it is not known.")
    asked = None if question is None else _question(question)
    with cancel_on_interrupt() as cancel:
        model = load_answering(folder)
        found = check(said, model, open_machine(device.device, device.threads), asked, cancel)
    if json:
        print_json(found, answer=said)
    else:
        _show_tokens(out, model, said, found.difference)
        out.print(f"[{OUTCOME_STYLES[found.outcome]}]{found.outcome.value}[/]  {markup(found.said)}", soft_wrap=True)
        if asked is None:
            out.print("Without --question nothing says what was asked, or that its luck was not chosen.")
        if said.verdict is not None:
            out.print(f"It names the verdict {said.verdict.hex} on the model's training.", soft_wrap=True)
    if found.outcome is not Outcome.VERIFIED:
        raise ExitWith(found.outcome.exit_code)


def _show_tokens(out: Console, model: AnsweringModel, said: AnswerStatement, found: Difference | None) -> None:
    """Show an answer; where it is disputed, what is right, the first wrong token and what follows by themselves."""
    if found is None:
        out.print(markup(model.text(said.tokens)))
        return
    place = found.number - 1
    wrong = f"token {found.number:,}"
    show_facts(
        out,
        {
            "right so far": repr(model.text(said.tokens[:place])) if place else "nothing",
            wrong: f"{model.named(found.said)}, probability {found.said_probability:.3g}",
            "the model says": f"{model.named(found.found)}, probability {found.found_probability:.3g}",
            "what follows": repr(model.text(said.tokens[place + 1 :])),
        },
        amber=[wrong],
    )


def _read(path: Path, what: str) -> bytes:
    return read_input(path, what, DataError, most=MAX_VERDICT_BYTES)


def _question(path: Path) -> Question:
    from counterfoil.answers.question import MOST_BYTES, Question

    return Question.read(read_input(path, "a question", DataError, most=MOST_BYTES))


def _nonce(path: Path) -> str:
    text = read_input(path, "a nonce", DataError, most=_MOST_NONCE).decode("ascii", "replace").strip()
    if len(text) != 64 or set(text) - set("0123456789abcdef"):
        raise DataError(f"The file {path} holds no nonce.", remedy="Make one with 'counterfoil answer-nonce'.")
    return text
