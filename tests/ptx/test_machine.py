"""The PTX machine itself: each of its checks finds what a small program does wrong, and lets the right one pass."""

from __future__ import annotations

import re

import numpy as np
import pytest

pytest.importorskip("triton")

from ptx import accesses, instructions, machine, tensorcores  # noqa: F401  They fill the machine's table.
from ptx.instructions import _added_to_odd, _to_bfloat
from ptx.machine import Launch, Machine
from ptx.memory import Storages
from ptx.program import Array, Fault, Program

_TEXT = """
.version 8.7
.target sm_90a
.address_size 64
.visible .entry small(
	.param .u64 .ptr .global .align 1 small_param_0,
	.param .u32 small_param_1
)
.reqntid {threads}
{{
	.reg .pred %p<9>;
	.reg .b16 %rs<9>;
	.reg .b32 %r<99>;
	.reg .b64 %rd<99>;
	ld.param.b64 %rd1, [small_param_0];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	shl.b32 %r2, %r1, 2;
{body}
	ret;
}}
"""
"""%rd1: the buffer; %r1: the thread; %rd3: its word of the buffer; %r2: four times the thread."""


def execute(body: str, words: int = 64, threads: int = 64, shared: int = 1024, blocks: int = 1, seed: int = 0) -> Array:
    """Return the buffer, uint32 ``[words]``, in which each word is its number at first, after some lines of PTX."""
    buffer = np.arange(words, dtype=np.uint32)
    program = Program(_TEXT.format(threads=threads, body=body))
    start = buffer.ctypes.data
    launch = Launch((blocks, 1, 1), threads, {"small_param_0": start, "small_param_1": 7}, shared)
    storages = Storages([(start, start + buffer.nbytes)])
    Machine(program, launch, storages, np.arange(blocks), np.random.default_rng(seed)).run()
    return buffer


TURN = """
	st.shared.b32 [%r2], %r1;
	{}
	xor.b32 %r3, %r2, 128;
	ld.shared.b32 %r4, [%r3];
	st.global.b32 [%rd3], %r4;
"""
"""Threads of two warps exchange their numbers."""
PART = """
	setp.lt.u32 %p1, %r1, {};
	@%p1 bra $L__BB0_1;
	bra.uni $L__BB0_2;
$L__BB0_1:
	{}
$L__BB0_2:
"""
"""Threads below a number do something alone."""
FAULTS = {
    "a barrier is missing": (TURN.format(""), "race on shared memory"),
    "a barrier comes too late": (
        "st.shared.b32 [%r2], %r1;\nbar.sync 0;\nxor.b32 %r3, %r2, 128;\nld.shared.b32 %r4, [%r3];\n"
        "st.shared.b32 [%r2], %r4;\nbar.sync 0;",
        "race on shared memory: other warps have read",
    ),
    "two threads write different words": ("st.shared.b32 [0], %r1;", "race on shared memory"),
    "some threads of a block at a barrier": (PART.format(32, "bar.sync 0;"), "barrier in divergent code"),
    "a word at an odd address": ("st.global.b32 [%rd3+2], %r1;", "misaligned access of 4 bytes"),
    "two words at an odd word": ("st.global.v2.b32 [%rd3], {%r1, %r1};", "misaligned access of 8 bytes"),
    "shared memory at an odd address": ("ld.shared.b32 %r4, [%r2+1];", "misaligned access of 4 bytes of shared"),
    "behind the storage": ("ld.global.b32 %r4, [%rd3+4];", "outside all storages"),
    "before the storage": ("st.global.b32 [%rd3+-4], %r1;", "outside all storages"),
    "behind shared memory": ("ld.shared.b32 %r4, [%r2+1024];", "outside shared memory"),
    "an atomic operation behind the storage": ("atom.global.gpu.add.u32 %r4, [%rd3+4], %r1;", "outside all storages"),
    "an unwritten register": ("add.s32 %r4, %r5, 1;", "%r5 is read, and nothing has written it"),
    "an unwritten predicate": ("@%p3 st.global.b32 [%rd3], %r1;", "%p3 is read, and nothing has written it"),
    "a shuffle of half a warp": (
        PART.format(16, "shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1;"), "lanes of a warp are missing",
    ),
    "a shuffle with a predicate": (
        "setp.lt.u32 %p1, %r1, 5;\n@%p1 shfl.sync.idx.b32 %r4, %r1, 0, 31, -1;", "lanes of a warp are missing",
    ),
    "what nobody knows": ("frobnicate.b32 %r4, %r1;", "opcode is not executed here"),
    "a sine": ("sin.approx.f32 %r4, %r1;", "inexact arithmetic, approx"),
    "subnormal numbers that vanish": ("add.rn.ftz.f32 %r4, %r1, %r1;", "inexact arithmetic, ftz"),
    "a division": ("div.full.f32 %r4, %r1, %r1;", "inexact arithmetic, full"),
    "rounded down": ("add.rm.f32 %r4, %r1, %r1;", "modifier rm is not executed"),
    "a carry": ("add.cc.u32 %r4, %r1, %r1;", "modifier cc is not executed"),
    "a fused multiply-add": (
        "mov.b32 %r4, 0f3F800003;\nmov.b32 %r5, 0fBF800000;\nfma.rn.f32 %r6, %r4, %r4, %r5;", "fused multiply-add",
    ),
    "a fused multiply-add in float64": ("fma.rn.f64 %rd4, %rd1, %rd1, %rd1;", "fused multiply-add"),
    "an atomic sum of float32": ("atom.global.gpu.add.f32 %r4, [%rd3], %r1;", "depends on the order"),
    "a division by zero": ("div.u32 %r4, %r1, %r1;", "division by zero"),
    "no end": ("$L__BB0_1:\nbra.uni $L__BB0_1;", "does not end"),
    "a copy that is not waited for": (
        "cp.async.ca.shared.global [%r2], [%rd3], 4;\ncp.async.commit_group;\nbar.sync 0;\nld.shared.b32 %r4, [%r2];",
        "before the copy to it is waited for",
    ),
    "a wait for an older copy": (
        "cp.async.ca.shared.global [%r2], [%rd3], 4;\ncp.async.commit_group;\ncp.async.wait_group 1;\n"
        "ld.shared.b32 %r4, [%r2];",
        "before the copy to it is waited for",
    ),
    "a copy of another warp without a barrier": (
        "cp.async.ca.shared.global [%r2], [%rd3], 4;\ncp.async.commit_group;\ncp.async.wait_group 0;\n"
        "xor.b32 %r3, %r2, 128;\nld.shared.b32 %r4, [%r3];",
        "race on shared memory",
    ),
    "a copy over what others still read": (
        "st.shared.b32 [%r2], %r1;\nbar.sync 0;\nxor.b32 %r3, %r2, 128;\nld.shared.b32 %r4, [%r3];\n"
        "cp.async.ca.shared.global [%r2], [%rd3], 4;",
        "race on shared memory",
    ),
    "a matrix of another warp's bytes": (
        "shl.b32 %r3, %r1, 4;\nst.shared.v4.b32 [%r3], {%r1, %r1, %r1, %r1};\nxor.b32 %r3, %r3, 512;\n"
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%r3];",
        "race on shared memory",
    ),
    "a matrix's rows at odd words": (
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r2];", "misaligned access of 16 bytes of shared",
    ),
    "a product of half a warp": (
        PART.format(16, "mov.b32 %r9, 0;\nmma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 "
        "{%r4, %r5, %r6, %r7}, {%r9, %r9}, {%r9}, {%r9, %r9, %r9, %r9};"),
        "lanes of a warp are missing",
    ),
    "a product beyond int32": (
        "mov.b32 %r9, 0x7F7F7F7F;\nmov.b32 %r10, 0x7FFFFFFF;\nmma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 "
        "{%r4, %r5, %r6, %r7}, {%r9, %r9}, {%r9}, {%r10, %r10, %r10, %r10};",
        "beyond int32",
    ),
    "bfloat16 products of different sizes": (
        "mov.b32 %r9, 0x3F803F81;\nmov.b32 %r10, 0f4B800000;\nmma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 "
        "{%r4, %r5, %r6, %r7}, {%r9, %r9}, {%r9}, {%r10, %r10, %r10, %r10};",
        "depends on the order of its terms",
    ),
    "a group of warps": ("wgmma.fence.sync.aligned;", "opcode is not executed here"),
    "an undeclared register": ("mov.u32 %q1, %r1;", "register %q1 is not declared"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_wrong_program_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "LIMIT", 1000)
    body, message = FAULTS[name]
    with pytest.raises(Fault, match=re.escape(message)):
        execute(body)


HALF = np.arange(64, dtype=np.uint32) ^ 32
CONTROLS = {
    "with the barrier": (TURN.format("bar.sync 0;"), HALF),
    "a warp among itself": (TURN.format("").replace("128", "64"), np.arange(64) ^ 16),
    "both barriers": (
        "st.shared.b32 [%r2], %r1;\nbar.sync 0;\nxor.b32 %r3, %r2, 128;\nld.shared.b32 %r4, [%r3];\nbar.sync 0;\n"
        "st.shared.b32 [%r2], %r4;\nbar.sync 0;\nld.shared.b32 %r5, [%r2];\nst.global.b32 [%rd3], %r5;",
        HALF,
    ),
    "threads write the same word": (
        "st.shared.b32 [0], 9;\nbar.sync 0;\nld.shared.b32 %r4, [0];\nst.global.b32 [%rd3], %r4;", [9] * 64,
    ),
    "a warp alone": (
        PART.format(32, "shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1;\nst.global.b32 [%rd3], %r4;"),
        [*(np.arange(32) ^ 1), *range(32, 64)],
    ),
    "a predicate": ("setp.lt.u32 %p1, %r1, 5;\n@!%p1 st.global.b32 [%rd3], 3;", [*range(5), *[3] * 59]),
    "an exact fused multiply-add": (
        "mov.b32 %r4, 0f3F800001;\nmov.b32 %r5, 0f40000000;\nmov.b32 %r6, 0fBF800000;\n"
        "fma.rn.f32 %r7, %r4, %r5, %r6;\nst.global.b32 [%rd3], %r7;",
        [int(np.float32(2 * (1 + 2**-23) - 1).view(np.uint32))] * 64,
    ),
    "a difference of bfloat16 numbers, ties to even": (
        "mov.b32 %r4, 0x43C04380;\nmov.b32 %r5, 0x3FC0BF80;\nsub.rn.bf16x2 %r6, %r4, %r5;\nst.global.b32 [%rd3], %r6;",
        [0x43BF4380] * 64,
    ),
    "an atomic sum of integers": ("atom.global.gpu.acq_rel.add.u32 %r4, [%rd1], 1;", [64, *range(1, 64)]),
    "an atomic maximum": ("atom.global.gpu.acq_rel.max.u32 %r4, [%rd1+8], %r1;", [0, 1, 63, *range(3, 64)]),
    "a copy": (
        "cp.async.ca.shared.global [%r2], [%rd3], 4;\ncp.async.commit_group;\ncp.async.wait_group 0;\nbar.sync 0;\n"
        "xor.b32 %r3, %r2, 128;\nld.shared.b32 %r4, [%r3];\nst.global.b32 [%rd3], %r4;",
        HALF,
    ),
    "a copy of which a part is zeros": (
        "cp.async.ca.shared.global [%r2], [%rd3], 4, 0;\ncp.async.wait_all;\nld.shared.b32 %r4, [%r2];\n"
        "st.global.b32 [%rd3], %r4;",
        [0] * 64,
    ),
    "an older copy of two": (
        "cp.async.ca.shared.global [%r2], [%rd3], 4;\ncp.async.commit_group;\n"
        "cp.async.ca.shared.global [%r2+256], [%rd3], 4;\ncp.async.commit_group;\ncp.async.wait_group 1;\n"
        "ld.shared.b32 %r4, [%r2];\nadd.s32 %r4, %r4, 1;\nst.global.b32 [%rd3], %r4;",
        range(1, 65),
    ),
    "a loop": (
        "mov.b32 %r4, 0;\nmov.b32 %r5, 0;\n$L__BB0_1:\nadd.s32 %r4, %r4, %r1;\nadd.s32 %r5, %r5, 1;\n"
        "setp.lt.s32 %p1, %r5, %r1;\n@%p1 bra $L__BB0_1;\nst.global.b32 [%rd3], %r4;",
        [max(1, t) * t for t in range(64)],
    ),
    "bytes in one number": (
        "dp4a.s32.s32 %r4, 0xFF02FF80, 0x01010102, %r1;\nst.global.b32 [%rd3], %r4;",
        [(t - 256) % 2**32 for t in range(64)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTROLS)
def test_a_right_program_passes(name: str) -> None:
    body, expected = CONTROLS[name]
    assert execute(body).tolist() == list(map(int, expected))


def test_what_comes_first_of_atomic_operations_is_shuffled() -> None:
    body = "atom.global.gpu.acq_rel.add.u32 %r4, [%rd1], 1;\nst.global.b32 [%rd3], %r4;"
    found = [execute(body, seed=seed) for seed in range(3)]
    assert all(sorted(one.tolist()) == list(range(64)) for one in found)
    assert len({one.tobytes() for one in found}) == 3


@pytest.mark.parametrize("trans", [False, True])
def test_matrices_go_to_shared_memory_and_back(trans: bool) -> None:
    turned = ".trans" if trans else ""
    body = (
        "shl.b32 %r3, %r1, 4;\nadd.s32 %r5, %r1, 65536;\n"
        f"stmatrix.sync.aligned.m8n8.x2{turned}.shared.b16 [%r3], {{%r1, %r5}};\n"
        f"ldmatrix.sync.aligned.m8n8.x2{turned}.shared.b16 {{%r6, %r7}}, [%r3];\n"
        "shr.u32 %r7, %r7, 16;\nshl.b32 %r7, %r7, 8;\nadd.s32 %r6, %r6, %r7;\nst.global.b32 [%rd3], %r6;"
    )
    assert execute(body).tolist() == [t + 256 for t in range(64)]


@pytest.mark.parametrize(("m", "k"), [(8, 16), (16, 16), (16, 32)])
def test_products_of_bytes_are_numpys(m: int, k: int) -> None:
    """Fragments as the tables of the PTX ISA have them: written out here, not by the machine's own function."""
    rng = np.random.default_rng(k)
    a, b, c = rng.integers(-128, 128, (m, k)), rng.integers(-128, 128, (k, 8)), rng.integers(-1000, 1000, (m, 8))
    words = np.zeros((32, 12), np.int64)
    for lane in range(32):
        group, inside = lane // 4, lane % 4
        for i in range(m * k // 32):
            row = group + (8 if m == 16 and i % 8 >= 4 else 0)
            column = inside * 4 + i % 4 + (16 if i >= 8 else 0)
            words[lane, i // 4] |= (int(a[row, column]) & 255) << 8 * (i % 4)
        for i in range(k // 4):
            words[lane, 4 + i // 4] |= (int(b[inside * 4 + i % 4 + 16 * (i // 4), group]) & 255) << 8 * (i % 4)
        for i in range(m // 4):
            words[lane, 6 + i] = int(c[group + 8 * (i // 2), inside * 2 + i % 2]) % 2**32
    text, start = "", 4 * 32
    for place in range(10):
        # The words behind the first 32, which receive nothing, hold the fragments.
        text += f"ld.global.b32 %r{10 + place}, [%rd3+{start * (place + 1)}];\n"
    registers = [f"%r{10 + place}" for place in range(10)]
    lists = [
        ", ".join(registers[first : first + count]) for first, count in ((0, m * k // 128), (4, k // 16), (6, m // 4))
    ]
    outs = ", ".join(f"%r{30 + place}" for place in range(m // 4))
    kinds = f"m{m}n8k{k}.row.col.s32.s8.s8.s32"
    text += f"mma.sync.aligned.{kinds} {{{outs}}}, {{{lists[0]}}}, {{{lists[1]}}}, {{{lists[2]}}};\n"
    for place in range(m // 4):
        text += f"st.global.b32 [%rd3+{start * (20 + place)}], %r{30 + place};\n"
    buffer = np.zeros(32 * 32, np.uint32)
    buffer[32 : 32 * 13] = words.T.astype(np.uint32).ravel()
    program = Program(_TEXT.format(threads=32, body=text))
    at = buffer.ctypes.data
    launch = Launch((1, 1, 1), 32, {"small_param_0": at, "small_param_1": 7})
    Machine(program, launch, Storages([(at, at + buffer.nbytes)]), np.arange(1)).run()
    found = np.zeros((m, 8), np.int64)
    for lane in range(32):
        for i in range(m // 4):
            word = buffer[32 * (20 + i) + lane].astype(np.int32)
            found[lane // 4 + 8 * (i // 2), lane % 4 * 2 + i % 2] = word
    assert (found == a @ b + c).all()


def test_a_sum_rounded_to_odd_is_rounded_once_by_float32() -> None:
    """Against Python's fractions, whose nearest float32 numbers are numpy's of exact halves."""
    rng = np.random.default_rng(4)
    a = rng.standard_normal(2000) * 2.0 ** rng.integers(-80, 80, 2000)
    b = rng.standard_normal(2000) * 2.0 ** rng.integers(-80, 80, 2000)
    ties = np.float64(np.float32(a)) + np.spacing(np.float32(a)).astype(np.float64) / 2
    for x, y in ((a, b), (ties, b * 2.0**-90), (ties, -b * 2.0**-90)):
        found = _added_to_odd(x, y).astype(np.float32)
        extended = (x.astype(np.longdouble) + y.astype(np.longdouble)).astype(np.float32)
        sure = np.abs(x + y) > 2.0**-60 * np.maximum(np.abs(x), np.abs(y))
        nearer = np.abs(found.astype(np.longdouble) - x - y) <= np.abs(extended.astype(np.longdouble) - x - y)
        assert nearer[sure].all()


def test_bfloat16_is_torchs() -> None:
    import torch

    values = np.random.default_rng(6).integers(0, 2**32, 5000, np.uint32).view(np.float32)
    finite = values[np.isfinite(values)]
    expected = torch.from_numpy(finite.copy()).to(torch.bfloat16).view(torch.int16).numpy().view(np.uint16)
    assert (_to_bfloat(finite) == expected).all()
    assert (_to_bfloat(finite.astype(np.float64)) == expected).all()
