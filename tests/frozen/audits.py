"""Verdicts and adjudications of small runs: what is printed, how the command ends, and the payload that is signed."""

from __future__ import annotations

from tests.frozen.store import Texts
from tests.frozen.world import World

from counterfoil import write_capsule
from support.capsules import crafted

NONCE = "5e" * 32
SIGNED = ("honest", "lie-rows", "lie-weight", "refused-data")
"""Audits whose verdicts the signer's process signs; that of another one is written without a signature, which is
quicker, and the payload is the same."""
AUDITS: dict[str, str] = {
    # Honest runs.
    "honest": "run.cfoil --order order.cfoil --trainer-key trainer.pub.pem --client-key client.pub.pem",
    "honest-alone": "run.cfoil",
    "honest-heads-facts": "run.cfoil --order order.cfoil --heads heads.jsonl --facts",
    "honest-listed": "run.cfoil --order order.cfoil --segments 2-3",
    "honest-drawn": f"run.cfoil --order order.cfoil --segments 1 --nonce {NONCE}",
    "honest-confidence": f"run.cfoil --order order.cfoil --confidence 0.9 --bad-fraction 0.6 --nonce {NONCE}",
    "honest-own-key": "run.cfoil --order order.cfoil --trainer-key auditor.pub.pem",
    "honest-shares": "shared.cfoil --order shares.cfoil",
    "honest-one-share": "shared.cfoil --order shares.cfoil --shares 1",
    "honest-rounded": "rounded.cfoil --order rounded-order.cfoil",
    "honest-turns": "turns.cfoil",
    "honest-stopped": "stopped.cfoil",
    "honest-transformer": "transformer.cfoil --segments all",
    # Runs that lie.
    "lie-rows": "lie.cfoil --order order.cfoil",
    "lie-weight": "weight-lie.cfoil --order order.cfoil",
    "lie-rate": "rate-lie.cfoil",
    "lie-loss": "loss-changed.cfoil --order order.cfoil",
    "lie-fingerprint": "fingerprint-changed.cfoil --order order.cfoil",
    "lie-state-root": "state-root-changed.cfoil --order order.cfoil",
    "lie-share": "shared-lie.cfoil --order shares.cfoil",
    "lie-one-share": "shared-lie.cfoil --order shares.cfoil --shares 2",
    "lie-rounded": "release-lie.cfoil",
    "lie-not-drawn": "lie.cfoil --order order.cfoil --segments 1-1",
    "lie-others-order": "lie.cfoil --order other.cfoil",
    # Runs that cannot be judged.
    "refused-other-order": "other-run.cfoil --order order.cfoil",
    "refused-other-trainer": "run.cfoil --trainer-key other.pub.pem",
    "refused-other-client": "run.cfoil --client-key other.pub.pem",
    "refused-others-heads": "others-run.cfoil --heads heads.jsonl",
    "refused-loss": "loss-unsigned.cfoil",
    "refused-checkpoint": "checkpoint-changed.cfoil",
    "refused-data": "data-changed.cfoil",
    "refused-initial": "initial-changed.cfoil",
    "refused-schedule": "schedule-changed.cfoil",
    "refused-scalars": "scalars-changed.cfoil",
    "refused-program": "program-changed.cfoil",
    "refused-manifest": "manifest-changed.cfoil",
    "refused-claim": "claim-changed.cfoil",
    "refused-acceptance": "acceptance-changed.cfoil",
    "refused-run-root": "wrong-root.cfoil",
    "refused-order-for-run": "order.cfoil",
    "refused-capsule-for-run": "lie-rows.capsule.cfoil",
    "refused-revoked": "run.cfoil --trust trust",
    "refused-cut": "cut.cfoil",
    "refused-junk": "junk.cfoil",
    "refused-empty": "empty.cfoil",
}
"""Arguments of ``audit`` by name."""
MISTAKES: dict[str, str] = {
    "missing-file": "none.cfoil",
    "missing-order": "run.cfoil --order none.cfoil",
    "folder": "state",
    "device": "run.cfoil --device tpu:0",
    "segments": "run.cfoil --segments 9",
    "segments-twice": "run.cfoil --segments 1 --confidence 0.5",
    "nonce": "run.cfoil --segments 1 --nonce 12",
    "key-alone": "run.cfoil --key auditor.pem",
    "verdict-alone": "run.cfoil --verdict alone.json",
    "verdict-exists": "run.cfoil --verdict honest.json --key auditor.pem",
    "public-key": "run.cfoil --verdict alone.json --key auditor.pub.pem",
    "trainers-own-verdict": "run.cfoil --verdict own.json --key trainer.pem",
}
"""Uses of ``audit`` that are none, and the trainer's own."""
CAPSULES: dict[str, str] = {
    "rows": "lie-rows.capsule.cfoil --order order.cfoil --trainer-key trainer.pub.pem",
    "rows-alone": "lie-rows.capsule.cfoil",
    "weight": "lie-weight.capsule.cfoil --order order.cfoil",
    "rate": "lie-rate.capsule.cfoil",
    "loss": "lie-loss.capsule.cfoil",
    "fingerprint": "lie-fingerprint.capsule.cfoil",
    "share": "lie-share.capsule.cfoil",
    "rounded": "release-lie.capsule.cfoil",
    "other-order": "lie-rows.capsule.cfoil --order other.cfoil",
    "other-trainer": "lie-rows.capsule.cfoil --trainer-key other.pub.pem",
    "run-for-capsule": "run.cfoil",
    "junk": "junk.cfoil",
    "rejected": "honest.capsule.cfoil",
}
"""Arguments of ``adjudicate`` by name; each is signed by somebody else than the auditor."""


def make(world: World) -> Texts:
    """Every audit with its verdict, and every capsule with its adjudication."""
    world.counterfoil(
        "revoke trainer.pub.pem --key list.pem --out revoked.json --reason Lost. --compromised"
        " --since 2025-01-01T00:00:00Z"
    )
    world.counterfoil("trust take --trust trust revoked.json --key list.pub.pem")
    texts = {}
    write_capsule(crafted(world.folder / "run.cfoil", 3), world.folder / "honest.capsule.cfoil")
    for name, arguments in AUDITS.items():
        line = f"audit {arguments} {'--key auditor.pem --verdict' if name in SIGNED else '--unsigned'} {name}.json"
        if name.startswith("lie"):
            line += f" --capsule {name}.capsule.cfoil"
        texts[f"audits/{name}.txt"] = world.counterfoil(line, f"{name}.json")
    for name, arguments in MISTAKES.items():
        texts[f"audits/mistake-{name}.txt"] = world.counterfoil(f"audit {arguments}")
    for name, arguments in CAPSULES.items():
        line = f"adjudicate {arguments} --key other.pem --verdict {name}.adjudication.json"
        texts[f"adjudications/{name}.txt"] = world.counterfoil(line, f"{name}.adjudication.json")
    return texts
