"""The page of ``python -m benchmarks paper``: its prose, and the published figures with what is known of them."""

from __future__ import annotations

PAGE = """\
# The paper's experiments, measured

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
