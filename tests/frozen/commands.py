"""What every command prints: its help, its JSON, and its words, on an honest and on a tampered run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.frozen.store import Texts
from tests.frozen.world import World

from counterfoil import Digest
from counterfoil.signing.kinds import ReleaseList
from counterfoil_core.signing.statements import sign_said

NONCE = "5e" * 32
HEX = "5a" * 32
RULES = """\
[compute]
operations = [0, 1_000_000]
parameters = [500, 1000]
[data]
epochs = 2
[hyperparameters]
steps = [1, 10]
batch_size = [1, 2]
[hyperparameters.scalars]
lr = [0.0, 1.0]
[precision]
exact = true
[performance]
final_loss = [0.0, 1.0]
"""
LINES: dict[str, tuple[str, ...]] = {
    "inspect": ("inspect run.cfoil --order order.cfoil --trainer-key trainer.pub.pem",),
    "inspect-order": ("inspect order.cfoil", "inspect shares.cfoil", "inspect rounded-order.cfoil"),
    "inspect-lie": ("inspect lie.cfoil", "inspect shared-lie.cfoil --quick", "inspect data-changed.cfoil"),
    "inspect-capsule": ("inspect lie-rows.capsule.cfoil",),
    "inspect-json": ("inspect run.cfoil --order order.cfoil --json",),
    "inspect-lie-json": ("inspect lie.cfoil --json", "inspect data-changed.cfoil --json"),
    "facts": ("facts run.cfoil", "facts run.cfoil --json", "facts lie.cfoil --trainer-key other.pub.pem"),
    "facts-signed": (
        "facts run.cfoil --energy-kwh 1.5 --key other.pem --out facts.json",
        "verify facts.json run.cfoil --key other.pub.pem",
        "verify facts.json lie.cfoil --key other.pub.pem",
    ),
    "plan": ("plan --fleet", "plan --inspections", "plan run.cfoil --slurm --jobs 3 --order order.cfoil"),
    "plan-json": ("plan --fleet --json", "plan --inspections --json"),
    "audit-json": (
        "audit run.cfoil --order order.cfoil --json",
        "audit lie.cfoil --json",
        "audit data-changed.cfoil --json",
    ),
    "audit-csv": ("audit lie.cfoil --csv steps.csv",),
    "merge": (
        "audit lie.cfoil --order order.cfoil --segments 1-1 --partial part-1.json",
        "audit lie.cfoil --order order.cfoil --segments 2-3 --partial part-2.json",
        "merge part-1.json part-2.json --run lie.cfoil --order order.cfoil",
        "merge part-1.json --run lie.cfoil --order order.cfoil",
        "merge part-1.json part-2.json --run lie.cfoil --order order.cfoil --json",
        "merge part-1.json part-2.json --run run.cfoil --order order.cfoil",
    ),
    "follow": ("follow run.cfoil --order order.cfoil", "follow lie.cfoil --order order.cfoil --json"),
    "adjudicate-json": ("adjudicate lie-rows.capsule.cfoil --json", "adjudicate junk.cfoil --json"),
    "referee": (
        "referee run.cfoil lie.cfoil --order order.cfoil",
        "referee run.cfoil run.cfoil",
        "referee lie.cfoil weight-lie.cfoil --order order.cfoil",
        "referee run.cfoil other-run.cfoil",
    ),
    "referee-json": ("referee run.cfoil lie.cfoil --json",),
    "panel": ("panel run.cfoil lie.cfoil weight-lie.cfoil --order order.cfoil", "panel run.cfoil data-changed.cfoil"),
    "panel-json": ("panel run.cfoil lie.cfoil --json",),
    "diff": (
        "diff run.cfoil lie.cfoil",
        "diff run.cfoil lie.cfoil --replay",
        "diff run.cfoil run.cfoil",
        "diff run.cfoil weight-lie.cfoil --replay",
        "diff run.cfoil other-run.cfoil",
        "diff run.cfoil rounded.cfoil",
    ),
    "diff-json": ("diff run.cfoil lie.cfoil --replay --json",),
    "verify": (
        "verify honest.json run.cfoil --key auditor.pub.pem",
        "verify lie-rows.json --key auditor.pub.pem",
        "verify honest.json --key other.pub.pem",
        "verify honest.json lie.cfoil --key auditor.pub.pem",
        "verify rows.adjudication.json --key other.pub.pem",
        "verify junk.cfoil --key auditor.pub.pem",
        "trust take --trust trust revoked.json --key list.pub.pem",
        "verify honest.json --key auditor.pub.pem --trust trust",
        "verify refused-cut.json --key auditor.pub.pem",
    ),
    "verify-json": (
        "verify honest.json --key auditor.pub.pem --json",
        "verify lie-rows.json --key auditor.pub.pem --json",
    ),
    "afterwards": (
        "reply lie-rows.json --key trainer.pem --text Mistaken. --out reply.json",
        "withdraw lie-weight.json --key auditor.pem --reason Mistaken. --out withdrawal.json",
        "verify lie-rows.json --key auditor.pub.pem",
        "verify lie-weight.json --key auditor.pub.pem",
        "verify lie-weight.json --key auditor.pub.pem --json",
        "reply lie-rows.json --key other.pem --text Mistaken. --out none.json",
    ),
    "sign": (
        "sign honest-listed.json --key auditor.pem --out signed.json",
        "verify signed.json --key auditor.pub.pem",
    ),
    "ledger": ("ledger verdicts --auditor-key auditor.pub.pem", "ledger verdicts --auditor-key auditor.pub.pem --json"),
    "export": (
        "export weights run.cfoil --safetensors weights",
        "export csv run.cfoil --out curves.csv",
        "export svr honest.json --key auditor.pem --out honest.svr.json",
        "export vsa lie-rows.json --key auditor.pem --out lie.vsa.json",
        "export svr lie-rows.json --key auditor.pem --out none.json",
        "export model-card honest.json --key auditor.pub.pem --out card.md",
    ),
    "verify-weights": (
        "verify-weights weights/model.safetensors run.cfoil --verdict honest.json --key auditor.pub.pem",
        "verify-weights weights/model.safetensors lie.cfoil --verdict lie-rows.json --key auditor.pub.pem",
        "verify-weights weights/model.safetensors run.cfoil --verdict honest.json --key auditor.pub.pem --json",
    ),
    "locate": (
        f"locate {HEX} run.cfoil lie.cfoil",
        "locate weights/model.safetensors run.cfoil lie.cfoil",
        "locate --row row.npy run.cfoil lie.cfoil",
        "locate --row row.npy run.cfoil --json",
        "locate weights/model.safetensors lie.cfoil --json",
        "locate --row row.npy run.cfoil --key other.pem --out use.json --proof proof.json --neighbours",
        "verify use.json run.cfoil --key other.pub.pem --row row.npy --proof proof.json",
        "verify use.json --key auditor.pub.pem",
    ),
    "rules": (
        "rules rules.toml run.cfoil",
        "rules rules.toml run.cfoil --verdict honest.json --auditor-key auditor.pub.pem --json",
        "rules rules.toml run.cfoil --key other.pem --out checked.json",
        "verify checked.json rules.toml run.cfoil --key other.pub.pem",
        "verify checked.json rules.toml lie.cfoil --key other.pub.pem",
    ),
    "notes": (
        "note order.cfoil --says Digits. --key other.pem --out note.json",
        "verify note.json order.cfoil --key other.pub.pem",
        "verify note.json rounded.cfoil --key other.pub.pem",
    ),
    "releases": (
        "verify files.release.json order.cfoil other.cfoil --key list.pub.pem",
        "verify files.release.json order.cfoil other.cfoil row.npy --key list.pub.pem --json",
    ),
    "keys": (
        "keygen auditor.pem --no-passphrase",
        "public-key auditor.pem --out again.pub.pem",
        "revoke other.pub.pem --key list.pem --list revoked.json --out next.json --reason Old."
        " --since 2026-01-02T00:00:00Z",
        "sign-order order.cfoil --key other.pem",
        "sign-order other.cfoil --key client.pem --out signed-order.cfoil",
    ),
    "hand-over": ("hand-over lie-rows.json --key auditor.pub.pem --capsule lie-rows.capsule.cfoil --out handed",),
    "train": (
        "train rounded.cfoil --out run.cfoil --key trainer.pem",
        "train junk.cfoil --out again.cfoil --key trainer.pem",
    ),
    "unknown": ("adit run.cfoil", "audit run.cfoil --ordr x", "audit", "--version"),
}
"""Command lines that are run one after the other, by the name of the file that says what came out."""
WRITTEN: dict[str, tuple[str, ...]] = {
    "audit-csv": ("steps.csv",),
    "afterwards": ("reply.json", "withdrawal.json"),
    "facts-signed": ("facts.json",),
    "export": ("curves.csv", "honest.svr.json", "lie.vsa.json", "card.md"),
    "locate": ("use.json",),
    "rules": ("checked.json",),
    "notes": ("note.json",),
    "keys": ("next.json",),
    "hand-over": ("handed/README.txt",),
}
"""Files whose text is frozen too, by the name of the lines that write them."""


def make(world: World) -> Texts:
    """Every line's output; to be called when the audits are made, whose verdicts and capsules are read here."""
    (world.folder / "rules.toml").write_text(RULES)
    verdicts = world.folder / "verdicts"
    verdicts.mkdir()
    for name in ("honest.json", "lie-rows.json", "refused-data.json", "rows.adjudication.json"):
        (verdicts / name).write_bytes((world.folder / name).read_bytes())
    listed = {name: Digest.of_file(world.folder / name) for name in ("order.cfoil", "other.cfoil", "shares.cfoil")}
    release = sign_said(ReleaseList("1.0", "ab" * 20, listed), world.key("list"))
    (world.folder / "files.release.json").write_bytes(release)
    texts = {}
    for name, lines in LINES.items():
        parts = [world.counterfoil(line) for line in lines]
        parts += [f"--- {written}\n{world.plain(world.written(written))}" for written in WRITTEN.get(name, ())]
        texts[f"commands/{name}.txt"] = "\n".join(parts)
    return texts


def helps(world: World) -> Texts:
    """The help of every command, found by reading the help of the groups."""
    return {f"help/{' '.join(('counterfoil', *path))}.txt": text for path, text in _helps(world, ())}


def _helps(world: World, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    text = world.counterfoil(" ".join((*path, "--help")))
    yield path, text
    listed = text.partition("\nCommands:\n")[2].partition("\n\n")[0]
    for name in re.findall(r"^  ([a-z][a-z0-9-]*)(?: |$)", listed, re.MULTILINE):
        yield from _helps(world, (*path, name))
