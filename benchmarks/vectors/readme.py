"""What README.md beside the vectors says."""

# ruff: noqa: E501
from __future__ import annotations

from counterfoil_core.bundle.schema import FORMAT_VERSION


def readme(torch: str) -> str:
    """Return the text; ``torch`` is the version of torch whose programs the runs hold."""
    return f"""# Conformance vectors

For a second implementation of the [bundle format](../../docs/bundle-format.md) (version {FORMAT_VERSION}) and the
[numerics](../../docs/numerics.md): small inputs, and the results that they must have. `python -m benchmarks vectors --out DIR` writes
this folder; `tests/independent/` of Counterfoil's repository checks it with a reader and replayer that share no code with
Counterfoil.

Floating-point numbers are text in C99's `%a` form; `bytes`, digests and fingerprints are hexadecimal digits; array elements
are in C order and little-endian; `null` in the place of a scale's exponent stands for a scale of zero.

| file | what it holds | what must come out |
|---|---|---|
| `canonical_json.json` | JSON values; bytes that are not canonical; floats | their bytes; a refusal; their text |
| `merkle.json` | trees of several sizes, leaf i being leaf(byte i) | roots and inclusion proofs |
| `digests.json` | arrays (`long` holds the float32 numbers 0 to 4999) and a step | tensor records, chunk roots, tensor digests, the state root over all of them; record and leaf |
| `signatures.json` | a secret key that everybody knows, and a statement | key id, the bytes that are signed, the envelope |
| `philox.json` | counters and keys; draws | words; numbers in [0, 1) |
| `draws.json` | draws of the normal and the exponential distribution | float32 numbers |
| `rounding.json` | values, p, G and the exponent E of the scale | the grid points nearest to them |
| `following.json` | own values (infinities are such as an argument holds), own scale and the trainer's log of a site | rounded values, corrections, contradictions, omissions |
| `logs.json` | sites; bytes that are no log | the log's bytes; a refusal |
| `fingerprints.json` | order digest, step, place and elements (of steps' values, floating-point ones float64) | fingerprints |
| `exact_operations.json` | operands under [exact profiles](../../docs/numerics.md#exact-profiles): of quantisation, products, sums and functions | integers and the exponent of their unit; float32 results |
| `combination.json` | what [shares](../../docs/numerics.md#shares) give for one element | b, E, the integers that are added; the float32 sum, null where float32 cannot hold it |
| `stopping.json` | [rules to stop early](../../docs/bundle-format.md#17-early-stopping), and losses | the step after which the run ends; null where it goes on |
| `convolution.cfoil`, `.json` | a run of three steps: convolutions, batch norm, linear layer, cross entropy, SGD with momentum; calibrated margins. The trainer's machine took the first logged decision of step 2 the other way than rounding to nearest would | below; without the log, step 2 comes out different |
| `transformer.cfoil`, `.json` | a run of three steps: attention, layer norm, GELU, dropout, Adam; proven margins | below |
| `exact.cfoil`, `.json` | a run of three steps under `exact-13`: convolutions, batch norm, linear layer, cross entropy, SGD with momentum, all as single operations; no log | below |
| `turns.cfoil`, `.json` | a run of four steps of two programs [in turns](../../docs/bundle-format.md#14-several-programs), `d`, `d`, `g`: linear layers, cross entropy, Adam and SGD with momentum; proven margins | below |
| `stopped.cfoil`, `.json` | a run of a linear layer, cross entropy and SGD, which its order's rule ends before its last step; proven margins | below |
| `shares.cfoil`, `.json` | a run of three steps, each of [three shares](../../docs/bundle-format.md#18-shares) of four rows, under `exact-13`: linear layers, batch norm, dropout, cross entropy, SGD with momentum | of each step the state root, the loss, the record, the leaf and the fingerprints of every share, the exponents by the names in `combined`, fingerprints of the update, step record and leaf |

The JSON beside another run has the order digest, the program's digest, the run root, the trainer's key id, operator, elements and
margin m of each rounding site (no margin under an exact profile), the number of places, and for each step: the state root (of every step, also those that the run does
not commit to), the loss, the fingerprints, the log, the step record and the Merkle leaf. Of programs in turns it has the pattern, and
digest, sites and places by the program's name.

Everything but the runs' logs, and what is hashed from them (step records, leaves, run roots, claims), is the same on every
machine; a log says what was close on the machine that wrote it. The runs' programs are as torch {torch} captures them.
"""
