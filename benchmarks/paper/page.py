"""The page of ``python -m benchmarks paper``: its prose, its tables, and the published figures with what is known."""

from __future__ import annotations

import math
import platform
from collections.abc import Sequence
from datetime import UTC, datetime

import torch

from benchmarks.pages import duration, machine_name, markdown, size, tabulated
from benchmarks.paper.runs import Found
from counterfoil import __version__

BITS_PER_VALUE = 1.6
"""What the paper's released code writes: five decisions of three kinds in a byte."""
AIM = 500
"""The log should be at most one part in so many of the paper's encoding."""

WHOLE = "whole"
"""The name of the part that :mod:`benchmarks.whole` writes."""

PAGE = """\
# The paper's experiments, measured

*For*: readers of the paper.
*Answers*: what its experiments take with Counterfoil: log, time and memory, beside the published numbers.

{origin}

One training step from the initial weights, on {images}, made-up tokens and a made-up table, with the default
precision (float64 to 24 significand bits, margin 2^(E-44)). Every experiment runs in processes of its own, first at
a small batch and then at the largest that the machine can do in the time it is given. Other work on the machine
makes times longer; the forms of one experiment are measured one after the other, so their ratios suffer less.

*Extrapolated* means: on the straight line through the two batches that were measured, up to the paper's batch. The
number of rounded values lies on that line exactly; bytes of log and seconds nearly do.

## Log

{log}

The aim is a log of at most 1/{aim} of the paper's encoding, which is {bits} bits for every rounded value: five
decisions of three kinds in a byte (read in the released code). Here it is counted on our own rounded values. These
are more than that code has, which hooks modules only: Counterfoil also rounds what is computed between modules, and
the optimizer step. A step of logistic regression rounds so few values that most of its log is headers: the exponent and
the number of entries of each rounded tensor.

## Time of a step

{time}

- *Eager float32* is ordinary PyTorch training of the same model with `torch.optim`.
- *Unrounded* is the ordered program in float64, operator by operator, without rounding.
- *Recorded* adds rounding, fingerprints and the encoded log; hashing the state and writing to the disk are not in
  it.
- *Replayed* follows that log.

Much of the distance to float32 is float64 itself: on most CPUs convolutions have no fast path in float64.

## Replay on other hardware, imitated

The recorded step, replayed with every reduction in reversed order: directions that had to be taken from the log
(corrections), entries that no honest trainer writes (contradictions), and close values that were not logged
(omissions).

{replay}

## Whole trainings

`python -m benchmarks whole FOLDER --text FILE` trains ResNet-50 (batch 64, 100 steps) and GPT-2 of 124 million
parameters (batch 8, sequences of 64, 40 steps) from the first step to the last: recorded on this machine as it is,
audited by processes that are held to SSE4 (matrix products, convolutions, torch's loops and ours), and trained
ordinarily on both. It goes on where it was stopped.

<!-- whole: begin -->
{whole}
<!-- whole: end -->

## Against published figures

{published}

Against the released code's own figures our log covers more: weight gradients and the optimizer step, which it does not
log. That part does not grow with the batch; with AdamW, on a small batch, it is the larger one.

The figures of others were measured on their machines, and are not equally sure:

- **The paper** (Srivastava, Arora and Boneh, "Optimistic Verifiable Training by Controlling Hardware
  Nondeterminism", NeurIPS 2024, arXiv 2403.09603). 1.6 bits per value is read in its released code
  (github.com/meghabyte/verifiable-training). 105 MB forward and 105 MB backward for ResNet-50 at batch 64, and 42
  MB for GPT-2 at 8 sequences of 64, follow from that code by counting the outputs that it logs; we could not
  compare them with the tables as printed. That its auditor corrects less than 0.01 % of the values is known to us
  from a summary only. What its trainer and auditor need per step is in a table that we could not read, so no such
  figure stands here.
- **Kaizen** (Abbaszadeh and others, eprint 2024/162): 22 minutes per batch of 16 is in its abstract; a later
  summary says 15 minutes. Its proof has 1.63 MB and is verified in 130 ms by somebody who neither sees the data nor
  repeats the training. Our auditor must do both, so this compares costs and not guarantees.
- **zkPoT** (Garg and others, eprint 2023/1345): 72 s and 350 MB per epoch are quoted from a talk by an author of
  the paper above, and not read in the publication. It too proves without showing the data.
- **Other ways to the same result**, by the time that they add; none of them was run here. Fixed reduction orders
  (RepOps, in Verde, arXiv 2502.19405): 67 to 374 % for a model of a billion parameters, from second-hand notes that
  disagree. Comparing within a tolerance in the place of bits (OVIG, arXiv 2606.21045): 14 %, from its abstract.
  Megatron-LM's deterministic mode, on equal machines only: about 15 %, from its documentation.
"""
"""Template for ``str.format``."""


def page(
    found: Sequence[Found], device: str, *, made_up_images: bool, seconds: float, whole: str = "Not measured yet."
) -> str:
    """Return the page as Markdown; ``whole`` is its part that :mod:`benchmarks.whole` writes."""
    today = datetime.now(UTC).date().isoformat()
    images = "made-up images" if made_up_images else "CIFAR-10's images"
    origin = (
        f"Written by `python -m benchmarks paper --seconds {seconds:g}` on {today}: {machine_name(device)}; "
        f"Counterfoil {__version__}, torch {torch.__version__}, Python {platform.python_version()}, "
        f"{platform.system()}."
    )
    return PAGE.format(
        origin=origin,
        images=images,
        aim=AIM,
        bits=BITS_PER_VALUE,
        log=_log_table(found),
        time=_time_table(found),
        replay=_replay_table(found),
        published=_published(found),
        whole=whole,
    )


def _batch(one: Found) -> str:
    return f"{one.large.batch} of {one.experiment.batch}" if one.extrapolated else str(one.large.batch)


def _about(one: Found) -> str:
    return "extrapolated" if one.extrapolated else "measured"


def encoded_in_the_paper(values: float) -> float:
    """Bytes that the paper's encoding takes for so many values."""
    return values * BITS_PER_VALUE / 8


def _share(ratio: float) -> str:
    """One part in ``ratio``, and whether that reaches the aim."""
    return f"1/{ratio:,.0f}" + ("" if ratio >= AIM else f", short of 1/{AIM}")


def _log_table(found: Sequence[Found]) -> str:
    def whole(one: Found) -> float:
        return one.at_full_batch(lambda m: m.log_bytes)

    def theirs(one: Found) -> float:
        return encoded_in_the_paper(one.at_full_batch(lambda m: m.values))

    return tabulated(
        found,
        {
            "experiment": lambda one: one.experiment.title,
            "batch measured": _batch,
            "values rounded": lambda one: f"{one.large.values:,}",
            "logged": lambda one: f"{one.large.entries:,}",
            "log": lambda one: size(one.large.log_bytes),
            "bits per value": lambda one: f"{8 * one.large.log_bytes / one.large.values:.5f}",
            "log at the paper's batch": lambda one: f"{size(whole(one))}, {_about(one)}",
            "paper's encoding there": lambda one: size(theirs(one)),
            "ours is": lambda one: _share(theirs(one) / whole(one)),
        },
    )


def _time_table(found: Sequence[Found]) -> str:
    def eager_ratio(one: Found) -> str:
        return "-" if math.isnan(one.large.eager32) else f"{one.large.recorded / one.large.eager32:.2f}"

    return tabulated(
        found,
        {
            "experiment": lambda one: one.experiment.title,
            "batch measured": _batch,
            "eager float32": lambda one: duration(one.large.eager32),
            "unrounded float64": lambda one: duration(one.large.unrounded),
            "recorded": lambda one: duration(one.large.recorded),
            "replayed": lambda one: duration(one.large.replayed),
            "recorded / unrounded": lambda one: f"{one.large.recorded / one.large.unrounded:.2f}",
            "replayed / unrounded": lambda one: f"{one.large.replayed / one.large.unrounded:.2f}",
            "recorded / eager float32": eager_ratio,
        },
    )


def _replay_table(found: Sequence[Found]) -> str:
    return tabulated(
        found,
        {
            "experiment": lambda one: one.experiment.title,
            "batch measured": _batch,
            "same state root": lambda one: "yes" if one.large.identical else "NO",
            "corrections": lambda one: f"{one.large.corrections:,}",
            "contradictions": lambda one: one.large.contradictions,
            "omissions": lambda one: one.large.omissions,
            "a checkpoint": lambda one: size(one.large.state_bytes),
            "its digest": lambda one: duration(one.large.digested),
            "peak memory of all forms": lambda one: size(one.large.peak_bytes) if one.large.peak_bytes else "-",
        },
    )


def _published(found: Sequence[Found]) -> str:
    rows = []
    by_name = {one.name: one for one in found}
    for name, published, theirs in (
        ("resnet50", "105 MB forward and 105 MB backward (the paper's released code)", 210e6),
        ("gpt2", "42 MB (the paper's released code)", 42e6),
    ):
        if name in by_name:
            one = by_name[name]
            log = one.at_full_batch(lambda x: x.log_bytes)
            what = f"log of a step of {one.experiment.title}, batch {one.experiment.batch}"
            rows.append([what, published, f"{size(log)}, {_about(one)}: {_share(theirs / log)}"])
    if "vgg11" in by_name:
        one = by_name["vgg11"]
        recorded, replayed = (one.at_full_batch(read) for read in (lambda x: x.recorded, lambda x: x.replayed))
        ours = f"{duration(recorded)} to record, {duration(replayed)} to replay, {_about(one)}"
        rows.append(["VGG-11, 10 million parameters, a batch of 16", "22 min to prove (Kaizen)", ours])
    if "logistic" in by_name:
        one = by_name["logistic"]
        steps = -(-one.experiment.rows // one.experiment.batch)
        recorded, replayed, log = (
            steps * one.at_full_batch(read)
            for read in (lambda x: x.recorded, lambda x: x.replayed, lambda x: x.log_bytes)
        )
        ours = (
            f"{duration(recorded)} to record, {duration(replayed)} to replay, {size(log)} of log: {steps} times what "
            "one step takes"
        )
        rows.append(["Logistic regression, 262,144 x 1,024, an epoch", "72 s and 350 MB (zkPoT)", ours])
    return markdown(["what", "published", "ours on this machine"], rows)
