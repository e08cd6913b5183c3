"""``counterfoil verify``: who signed a statement, and whether it is so, by what it is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from msgspec import UNSET

from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.cli import terminal
from counterfoil.cli.certificate import AtOption, RootsOption, name_beside, show_name, verifying_key
from counterfoil.cli.exits import SELF_SIGNED, ExitWith
from counterfoil.cli.facts import TrainerKeyOption, count_facts, show_run_facts
from counterfoil.cli.jsonform import print_json
from counterfoil.cli.locate import show_use
from counterfoil.cli.notes import WeightsOption, digest_of
from counterfoil.cli.options import MAX_VERDICT_BYTES, DataOption, JsonOption
from counterfoil.cli.places import READS, READS_VERDICT
from counterfoil.cli.reader import Reader, show_validity
from counterfoil.cli.rules import (
    AuditorKeyOption,
    VerdictOption,
    check_run_rules,
    end_with,
    results_of,
    show_results,
)
from counterfoil.cli.terminal import markup
from counterfoil_core.base.digest import PIECE_BYTES, Digest
from counterfoil_core.base.errors import DataError, GivenFileError, ProofError, SignatureError
from counterfoil_core.base.inputs import open_input, read_input
from counterfoil_core.base.plaintext import quote
from counterfoil_core.base.sentence import say
from counterfoil_core.base.timestamps import timestamp
from counterfoil_core.signing import kinds
from counterfoil_core.signing.keys import PublicKey, load_public_key
from counterfoil_core.signing.kinds import Kind, Said
from counterfoil_core.values.outcome import Outcome

if TYPE_CHECKING:
    from rich.console import Console

    from counterfoil.signing.kinds import (
        DataNote,
        ReleaseList,
        Reply,
        RowsStatement,
        RulesStatement,
        Withdrawal,
    )
    from counterfoil.signing.release import ReleaseCheck
    from counterfoil.trust.validity import Validity
    from counterfoil_core.signing.claims import Acceptance, RunClaim, SignedOrder
    from counterfoil_core.statement.factfields import FactsStatement
    from counterfoil_core.values.beacon import Beacon


@dataclass(frozen=True, kw_only=True)
class Given:
    """What the command is given."""

    file: Annotated[
        Path, READS_VERDICT, typer.Argument(metavar="FILE", help="The statement, a .json file.", show_default=False)
    ]
    reader: Reader
    against: Annotated[
        list[Path] | None,
        READS,
        typer.Argument(
            metavar="AGAINST",
            help="What it is about, to compare it with: of a verdict the bundle, of facts and rows the run, of a note "
            "the order, of rules the rules and the run, of a withdrawal or reply the verdict, of a release its files.",
            show_default=False,
        ),
    ] = None
    key: Annotated[
        Path | None,
        READS,
        typer.Option(
            help="The public key of whoever must have signed it, a .pub.pem file. Verdicts and releases name none; of "
            "others the key that they name is taken without it.",
            show_default=False,
        ),
    ] = None
    roots: RootsOption = None
    at: AtOption = None
    trainer_key: TrainerKeyOption = None
    verdict: VerdictOption = None
    auditor_key: AuditorKeyOption = None
    weights: WeightsOption = None
    row: Annotated[
        Path | None,
        READS,
        typer.Option(
            help="Of rows: the row, or several, as numpy.save writes them: is it about these?", show_default=False
        ),
    ] = None
    proof: Annotated[
        Path | None,
        READS,
        typer.Option(help="Of rows: the proof of its places that came with it; belongs to --row.", show_default=False),
    ] = None
    data: DataOption = None
    whole: Annotated[bool, typer.Option("--all", help="Of a release: every file of the list must be given.")] = False
    json: JsonOption = False

    @cached_property
    def envelope(self) -> bytes:
        """The statement's envelope; may be junk."""
        return read_input(self.file, "a statement", DataError, most=MAX_VERDICT_BYTES)

    @cached_property
    def public(self) -> PublicKey | None:
        """The key that must have signed it; raises KeyFileError."""
        return None if self.key is None else load_public_key(self.key)

    @property
    def files(self) -> Sequence[Path]:
        """What it is compared with."""
        return self.against or ()

    @property
    def out(self) -> Console:
        """Where it is said; JSON has standard output to itself."""
        return terminal.console(stderr=self.json)


def verify(given: Given) -> None:
    """Anyone: check who signed a statement, compare it with what it is about, and show what it says.

    It is known by its type: a verdict, an adjudication, facts, rules, rows, a note, a release, and each other that
    docs/statements.md lists. Exit code 0 if all holds that could be checked with what was given, 3 (REFUSED) if not.

    Of a verdict the exit code is its own: 0 only if it says VERIFIED; 3 too if it was withdrawn by its auditor, if that
    auditor's key was revoked, or if none of --roots answers for the name beside the signature; and 5 if the key that
    signed it is that of the trainer whose run it is about, which is no audit. Of rules it is that of 'counterfoil
    rules'; of a release 4 if a file is not there.

    Example: counterfoil verify verdict.json run.cfoil --key auditor.pub.pem
    """
    _ = given.envelope, given.public  # a file that cannot be read is said before anything is looked at
    form = form_of(given.envelope)
    check = _CHECKS[form.KIND]
    said = {option.name: getattr(given, option.name) for option in fields(given)}
    for name, value in said.items():
        if value and name not in _OF_EVERY_KIND and name not in check.options:
            option = "all" if name == "whole" else name.replace("_", "-")
            raise typer.BadParameter(f"--{option} says nothing of {form.KIND.named}.")
    if len(given.files) not in check.against:
        raise typer.BadParameter(f"Of {form.KIND.named}: it is not compared with {len(given.files)} files.")
    check.made(given, form)


def form_of(envelope: bytes) -> type[Said]:
    """Return what the statement in an envelope is, by its type; raises SignatureError where nobody knows that."""
    from counterfoil_core.signing.envelope import parse_statement, payload_of

    return _form(parse_statement(payload_of(envelope)))


def _form(statement: dict[str, Any]) -> type[Said]:
    from counterfoil.signing.kinds import FORMS

    kind = statement["predicateType"]
    if kind in kinds.EARLIER:
        raise SignatureError(
            say("It is a statement of an earlier form, {0}, which does not say whose run it is about.", kind),
            remedy=say("It counts for nothing. Ask whoever signed it for one of today's form."),
        )
    if not isinstance(kind, str) or kind not in FORMS:
        raise SignatureError(
            say("It is no statement of a kind that Counterfoil knows: {0}.", quote(str(kind))),
            remedy=say("docs/statements.md lists them."),
        )
    return FORMS[kind]


def unsigned_in(data: bytes, public: PublicKey) -> Said:
    """Read a statement that nobody signed: its canonical JSON, or an envelope without signatures.

    Args:
        data: What a file holds.
        public: Who is to sign it; the key and the time are put in where it has them and says none.

    Raises:
        SignatureError: It is none, no reader would take it, or it is of a kind that is signed where the work is done.
    """
    from counterfoil_core.signing.envelope import parse_statement, unsigned_payload
    from counterfoil_core.signing.statements import read_said, with_signer

    statement = parse_statement(unsigned_payload(data))
    form = _form(statement)
    if not form.KIND.alone:
        raise SignatureError(
            say("{0:capital} is not signed from a file.", form.KIND.named),
            remedy=say("The command that does the work signs it."),
        )
    told = {form.TIME: timestamp(), "public_key": public.pem} if form.KIND.names_key else {}
    if isinstance(statement["predicate"], dict):
        statement["predicate"] = told | statement["predicate"]
    return with_signer(read_said(form, statement), public)


def _opened(given: Given, form: type[Any]) -> Any:
    """Check the signature, and say whose it is."""
    from counterfoil_core.signing.statements import open_said

    if not form.KIND.names_key and given.public is None:
        raise typer.BadParameter("Give the key of whoever signed it with --key: it names none.")
    said = open_said(form, given.envelope, given.public)
    if said.signer:
        when = f" {getattr(said, said.TIME)}" if said.TIME else ""
        given.out.print(f"Signed{when}, with the key {said.key_id}", soft_wrap=True)
        if given.public is None:
            given.out.print("It names that key itself: who holds it is not known.")
    return said


def _ended(given: Given, said: Said, words: str) -> None:
    """Say what was found, and how the statement stands; ends the command where it does not count."""
    found = _validity(given, said)
    given.out.print(words, soft_wrap=True)
    if given.json:
        print_json(said, None, **_known_of_keys(given, found))
    _end(given, said, found)


def _validity(given: Given, said: Said) -> Validity:
    """How it stands; one that names no key was checked with the one that was given."""
    from counterfoil.trust.validity import validity

    at = getattr(said, said.TIME) if said.TIME else ""
    named = given.public.key_id if given.public is not None else getattr(said, "key_id", "")
    return validity(given.reader.store, (named, at), trainer=(_trainer_of(said), at))


def _known_of_keys(given: Given, found: Validity) -> dict[str, Any]:
    """What JSON says of it: by which keys and lists it is read, and why it does not count."""
    known = given.reader.store.digest
    return {} if known is None else {"trusted": known, "why_not": found.why}


def _end(given: Given, said: Said, found: Validity) -> None:
    """End the command where a statement does not count."""
    show_validity(given.out, given.reader.store, found, said.KIND.what)
    if found.self_signed:
        given.out.print("[bold red]SELF-SIGNED[/]  The trainer of the run signed it: it is the trainer's own word.")
        raise ExitWith(SELF_SIGNED)
    if not found.counts:
        raise ExitWith(Outcome.REFUSED.exit_code)


def _trainer_of(said: Said) -> str:
    """Key id of the trainer of the run that somebody else speaks of; empty where nobody does."""
    from counterfoil.signing.kinds import RowsStatement, RulesStatement
    from counterfoil_core.statement.factfields import FactsStatement

    if isinstance(said, (RulesStatement, RowsStatement)):
        return said.run.trainer_key
    return said.facts.trainer_key if isinstance(said, FactsStatement) else ""


def _refuse(given: Given, why: str) -> NoReturn:
    given.out.print(f"[bold red]NOT SO[/]  {markup(why)}", soft_wrap=True)
    raise ExitWith(Outcome.REFUSED.exit_code)


def show_said(out: Console, said: Said) -> None:
    """Show the fields of a statement, each in full, without its signer."""
    import json

    from counterfoil.cli.jsonform import as_json
    from counterfoil.cli.reports import show_facts

    fields = {name: value for name, value in as_json(said).items() if name not in ("key_id", said.TIME)}
    show_facts(
        out,
        {
            name.replace("_", " "): value if isinstance(value, str) else json.dumps(value)
            for name, value in fields.items()
            if value is not None
        },
    )


def _said(given: Given, form: type[Said]) -> None:
    said = _opened(given, form)
    show_said(given.out, said)
    _ended(given, said, "The signature holds.")


def _of_order(given: Given, form: type[SignedOrder | Acceptance | RunClaim]) -> None:
    """What is about the order in a file, and a run's claim about the run in it."""
    from counterfoil_core.bundle.reader import BundleReader
    from counterfoil_core.bundle.schema import run_tree
    from counterfoil_core.parties.signatures import check_claim, open_client_signature
    from counterfoil_core.signing.claims import Acceptance, RunClaim, check_same_client

    said = _opened(given, form)
    show_said(given.out, said)
    holds = "The signature holds" if said.signer else "Nobody signed it, and it holds"
    for path in given.files:
        with cancel_on_interrupt() as cancel, BundleReader.open(path) as reader:
            if reader.manifest.digest != said.order:
                _refuse(given, f"The order in {path.name} is another one: {reader.manifest.digest.hex}.")
            if isinstance(said, RunClaim):
                if run_tree(reader.step_records(cancel)).root != said.run_root:
                    _refuse(given, f"The run in {path.name} is another one.")
                check_claim(given.envelope, reader.manifest, given.public, reader.extent.steps)
            if isinstance(said, Acceptance) and reader.has_run:  # an order may be signed after it was accepted
                check_same_client(said, open_client_signature(reader.order_signature(), reader.manifest))
        holds += f", and it is about {path.name}"
    _ended(given, said, f"{markup(holds)}.")


def _later(given: Given, form: type[Withdrawal | Reply]) -> None:
    from counterfoil.trust.afterwards import verdict_digest

    said = _opened(given, form)
    show_said(given.out, said)
    for path in given.files:
        if verdict_digest(read_input(path, "a verdict", DataError, most=MAX_VERDICT_BYTES)) != said.verdict:
            _refuse(given, "It is about another verdict.")
    about = ", and it is about this verdict" * len(given.files)
    counts = "Whether it counts, 'counterfoil verify' of the verdict beside it says."
    _ended(given, said, f"The signature holds{about}. {counts}")


def _verdict(given: Given, form: type[Said]) -> None:
    from counterfoil.trust.afterwards import statements_beside, verdict_digest
    from counterfoil.trust.verdictfile import auditors_of, claimed_key, open_judgement
    from counterfoil_core.statement.verdict import check_bundle_file

    store = given.reader.store
    public = given.public
    if public is None and given.roots is None:
        public = claimed_key(given.envelope, auditors_of(store))
    public = verifying_key(given.envelope, public, given.roots)
    beside, unread = statements_beside(given.file, verdict_digest(given.envelope))
    judged = open_judgement(given.envelope, store, [public], beside)
    checked, found = judged.said, judged.validity
    name = name_beside(given.envelope, public, given.roots, given.at)
    facts = getattr(checked.statement, "facts", UNSET)
    for bundle in given.files:
        with cancel_on_interrupt() as cancel, terminal.progress("Hashing", terminal.console(stderr=True), "MB") as bar:

            def show(done: int, total: int) -> None:
                if done == PIECE_BYTES:
                    bar.start(total // 10**6)
                bar.update(done / 10**6)

            check_bundle_file(checked, bundle, cancel, show)
        if facts is not UNSET:
            from counterfoil_core.statement.factfields import differing_facts

            wrong = differing_facts(facts, count_facts(bundle, given.trainer_key, ""))
            if wrong:
                _refuse(given, f"The run shows something else of: {', '.join(wrong)}")
    from counterfoil.cli import reports

    if given.json:
        more: dict[str, object] = {} if name is None else {"certificate": name}
        more |= {} if store.digest is None else {"trusted": store.digest, "why_not": found.why}
        revoked = dict(found.revoked).get("signer")
        print_json(
            checked, checked.trust, self_signed=found.self_signed, afterwards=found.later, revoked=revoked, **more
        )
    else:
        console = terminal.console()
        reports.show_verdict(console, checked)
        about = "".join(f", and is about {markup(str(bundle))}" for bundle in given.files)
        console.print(f"The verdict's signature holds{about}.")
        if facts is not UNSET and given.files:
            console.print("The run shows each of the facts that it states.")
        if name is not None:
            show_name(name)
        sample = getattr(checked, "sample", None)
        if sample is not None and sample.beacon is not None:
            console.print(_beacon_words(sample.beacon))
        reports.show_afterwards(console, found.later)
        show_validity(console, store, found, checked.kind)
    for sentence in (*unread, *found.later.damaged):
        given.out.print(f"[yellow]{markup(sentence)}[/]", soft_wrap=True)
    if found.self_signed:
        reports.show_self_signed(terminal.console(stderr=True))
        raise ExitWith(SELF_SIGNED)
    if not found.counts:
        raise ExitWith(Outcome.REFUSED.exit_code)
    if found.later.damaged and checked.outcome.exit_code == 0:
        given.out.print("Whether it still counts cannot be told: what is damaged may have taken it back.")
        raise ExitWith(Outcome.INCONCLUSIVE.exit_code)
    raise ExitWith(checked.outcome.exit_code)


def _beacon_words(beacon: Beacon) -> str:
    from counterfoil_core.parties.beacons import can_check

    said = (
        f"Round {beacon.round} of the beacon {beacon.name}, published at {timestamp(beacon.published)}, drew the sample"
    )
    # A signature that does not hold is an error before.
    return f"{said}; its signature {'holds' if can_check() else 'was not checked: install counterfoil[beacon]'}."


def _facts(given: Given, form: type[FactsStatement]) -> None:
    from counterfoil_core.statement.factfields import differing_facts, facts_from

    said = _opened(given, form)
    for run in given.files:
        given.reader.check_run(run)
        wrong = differing_facts(said.facts, count_facts(run, given.trainer_key, said.facts.energy_kwh))
        if wrong:
            _refuse(given, f"The run shows something else of: {', '.join(wrong)}")
    show_run_facts(given.out, facts_from(said.facts))
    alone = "The signature holds. Without the run, the facts are the word of whoever signed."
    _ended(given, said, "The signature holds, and the run shows each of them." if given.files else alone)


def _note(given: Given, form: type[DataNote]) -> None:
    from counterfoil.cli.reports import show_facts, show_quoted
    from counterfoil_core.bundle.reader import BundleReader
    from counterfoil_core.signing.statements import open_said

    said = open_said(form, given.envelope, given.public)
    facts = {}
    with cancel_on_interrupt() as cancel:
        weights = digest_of(given.weights, cancel)
    for order in given.files:
        with BundleReader.open(order) as reader:
            facts["order"] = reader.manifest.digest.hex
            if reader.manifest.data_root != said.data_root:
                raise SignatureError(
                    say(
                        "The {0} is about other data: their root is {1}..., that of the order's data {2}....",
                        form.KIND.what,
                        said.data_root.short,
                        reader.manifest.data_root.short,
                    )
                )
    if weights is not None and said.weights != weights:
        raise SignatureError(
            say("The {0} names no weights.", form.KIND.what)
            if said.weights is None
            else say("The {0} names other weights: their SHA-256 is {1}....", form.KIND.what, said.weights.short)
        )
    facts["data"] = f"root {said.data_root.hex}"
    if said.weights is not None:
        facts["weights"] = f"SHA-256 {said.weights.hex}"
    show_facts(given.out, facts | {"signed": f"{said.signed_at}, with the key {said.key_id}"})
    given.out.print("Whoever has that key says:")
    show_quoted(given.out, said.says)
    named = ", and names these weights" if weights is not None else ""
    about = "".join(f" It is about the data of {markup(order.name)}{named}." for order in given.files)
    _ended(given, said, f"The note's signature holds.{about} Whether it is true it does not prove.")


def _rules(given: Given, form: type[RulesStatement]) -> None:
    said = _opened(given, form)
    if not given.files:
        show_said(given.out, said)
        _ended(given, said, "The signature holds. Without rules and run, the results are the word of whoever signed.")
        return
    verdicts = given.reader.verdicts(given.verdict, given.auditor_key)
    path, run = given.files
    digest, about, results = check_run_rules(path, run, verdicts, given.trainer_key, given.reader)
    wrong = [
        what
        for what, same in (
            ("it is about other rules", said.rules == digest),
            (f"it is about another run: {said.run.difference(about)}", said.run == about),
            ("a rule comes out otherwise", said.results == results_of(results)),
        )
        if not same
    ]
    if wrong:
        _refuse(given, f"{'; '.join(wrong)}.")
    show_results(given.out, results)
    _ended(given, said, "The signature holds, and every rule comes out as it was signed.")
    end_with(results)


def _rows(given: Given, form: type[RowsStatement]) -> None:
    from counterfoil.delivery.rowuse import row_differences, take_again, uses_of

    if given.proof is not None and given.row is None:
        raise typer.BadParameter("--proof belongs to --row: the row itself is not in a proof.")
    if given.data is not None and not given.files:
        raise typer.BadParameter("--data belongs to the run.")
    said = _opened(given, form)
    first = said.rows[0]
    about = ("order", said.run.order), ("run root", said.run.run_root), ("root over the data", first.data_root)
    for name, digest in about:
        given.out.print(f"{name} {digest.hex}", soft_wrap=True)
    for use in uses_of(said):
        show_use(given.out, use)
    checked = ["The signature holds."]
    if given.row is not None:
        checked += _with_row(given, said, given.row)
    for run in given.files:
        given.reader.check_run(run)
        console = terminal.console(stderr=True)
        with cancel_on_interrupt() as cancel, terminal.progress("Looking again", console, "steps or rows") as bar:
            found = take_again(said, run, cancel, terminal.shows(bar), data=given.data)
        different = said.run.difference(found[0].about) if found else say("it has no such rows")
        if different:
            _refuse(given, f"The statement is about another run than that in {run.name}: {different}.")
        wrong = row_differences(said, found)
        if wrong:
            _refuse(given, f"The run shows something else of: {', '.join(wrong)}")
        checked.append("The run shows the same.")
    if not given.files:
        checked.append("Without the run, what it did with the row is the word of whoever signed.")
    _ended(given, said, " ".join(checked))


def _with_row(given: Given, said: RowsStatement, row: Path) -> list[str]:
    """Compare the statement, and the proofs of its places, with the row itself."""
    from counterfoil.delivery.rowfile import fit_rows, read_rows, row_bytes
    from counterfoil.delivery.rowproof import MAX_BYTES, read_proofs, verify_row

    rows = read_rows(row)
    held: dict[Digest, bytes] = {}
    for use in said.rows:
        fits = fit_rows(rows, use.dtype, use.shape)
        if fits is not None:
            held |= {Digest.of(each): each for each in (one.tobytes() for one in row_bytes(fits))}
    if not held:
        raise GivenFileError(f"The statement is about no row of dtype {rows.dtype.name} and shape {rows.shape}.")
    spoken = {use.row for use in said.rows}
    if held.keys() != spoken:
        of = len(held.keys() & spoken)
        _refuse(given, f"The statement is about {len(spoken)} row(s), of which {row.name} has {of} of its {len(held)}.")
    checked = ["It is about this row." if len(held) == 1 else f"It is about these {len(held)} rows."]
    if given.proof is not None:
        proofs = read_proofs(read_input(given.proof, "a row proof", GivenFileError, most=MAX_BYTES))
        try:
            for each in proofs:
                if each.row not in held:
                    raise ProofError("The proof speaks of another row.")
                verify_row(each, held[each.row], said.rows[0].data_root)  # one and the same in each
        except ProofError as error:
            _refuse(given, str(error.sentence))
        places = {(use.array, use.row, place) for use in said.rows for place in use.places}
        if {(each.array, each.row, each.place) for each in proofs} != places:
            _refuse(given, "The proof is of other places than the statement names.")
        checked.append(f"Each of its {len(places):,} place(s) is proven: it lies in the data of that root.")
    return checked


def _release(given: Given, form: type[ReleaseList]) -> None:
    from counterfoil.signing.release import compare_release

    said = _opened(given, form)
    found, gone = [], []
    with cancel_on_interrupt() as cancel:
        for path in given.files:
            try:
                open_input(path, "a file of a release", GivenFileError).close()
            except GivenFileError:
                gone.append(path.name)
            else:
                found.append((path.name, Digest.of_file(path, cancel)))
    check = compare_release(said, found)
    gone += [name for name in check.absent if given.whole and name not in gone]
    stands = _validity(given, said)
    if given.json:
        known = _known_of_keys(given, stands)
        print_json(check, version=said.version, commit=said.commit, holds=check.holds, missing=gone, **known)
    else:
        _show_release(said, check, gone)
    if not check.holds or gone:
        raise ExitWith((Outcome.ERROR if check.holds else Outcome.REFUSED).exit_code)
    _end(given, said, stands)


def _show_release(said: ReleaseList, check: ReleaseCheck, gone: list[str]) -> None:
    out = terminal.console()
    out.print(f"Signed list of Counterfoil {markup(said.version)}, built from the commit {said.commit}")
    for word, names in (
        ("as signed", check.same),
        ("[bold red]CHANGED[/]", check.changed),
        ("[bold red]NOT LISTED[/]", check.unlisted),
        ("[bold red]MISSING[/]", gone),
    ):
        for name in names:
            out.print(f"  {word}  {markup(name)}", soft_wrap=True)
    if not check.holds:
        out.print("Do not install them: they are not what was signed. Download them again, and tell the builder.")
    elif gone:
        out.print("What is there is as it was signed; not everything is there.")
    else:
        out.print("The signature holds, and every file is as it was signed.")


@dataclass(frozen=True)
class _Check:
    """How statements of a kind are checked."""

    made: Callable[[Given, Any], None]
    against: range = range(2)  #: With how many files one may be compared.
    options: tuple[str, ...] = ()  #: The options that say something of it.


_OF_EVERY_KIND = ("file", "against", "reader", "key", "json")
"""What may be given whatever the statement is."""
_OF_VERDICT = _Check(_verdict, options=("roots", "at", "trainer_key"))
_CHECKS: Mapping[Kind, _Check] = {
    **dict.fromkeys((kinds.ORDER, kinds.ACCEPTANCE, kinds.RUN, kinds.COMPARISON), _Check(_of_order)),
    **dict.fromkeys(
        (kinds.TREE_HEAD, kinds.SHARE, kinds.ADDITION, kinds.SNAPSHOT, kinds.REVOCATIONS, kinds.ANSWER),
        _Check(_said, range(1)),
    ),
    **dict.fromkeys((kinds.WITHDRAWAL, kinds.REPLY), _Check(_later)),
    **dict.fromkeys((kinds.VERDICT, kinds.ADJUDICATION), _OF_VERDICT),
    kinds.FACTS: _Check(_facts, options=("trainer_key",)),
    kinds.NOTE: _Check(_note, options=("weights",)),
    kinds.RULES: _Check(_rules, range(0, 3, 2), ("trainer_key", "verdict", "auditor_key")),
    kinds.ROW_USE: _Check(_rows, options=("row", "proof", "data")),
    kinds.RELEASE: _Check(_release, range(10_000), ("whole",)),
}
