#!/usr/bin/env bash
# The same campaign as packaging/arm64.sh, between versions of torch and of Python: each is a machine of its own.
#
#   torches.sh setup [NAME ...]      makes the environments that are not there
#   torches.sh python NAME ARGS...   runs python in one, with this repository's engine, resources and benchmarks
#   torches.sh campaign [NAME ...]   orders, records and replays on each, and writes docs/cross-hardware.md
#
# It needs Linux on x86-64, gcc and nm, the Pythons, access to Python's package index, and 2 GB of disk for each
# environment. PyPI's torch for x86-64 is built for CUDA: the CUDA libraries, 3 GB that nothing here calls, are stubs
# (packaging/cuda_stubs.py). What it computes on the processor is what it would compute with them.
#
#   COUNTERFOIL_TORCHES_ROOT     the folder of the environments (build/torches)
#   COUNTERFOIL_TORCHES_FOLDER   the campaign's folder (build/versions); a campaign that was stopped goes on
set -euo pipefail
cd "$(dirname "$0")/.."
repository=$PWD
root=$(realpath -m "${COUNTERFOIL_TORCHES_ROOT:-build/torches}")
folder=$(realpath -m "${COUNTERFOIL_TORCHES_FOLDER:-build/versions}")
# Name, version of torch, of Python, and of the instruction set where it is not the processor's own.
machines=(torch-2.13:2.13.0:3.11: torch-2.11:2.11.0:3.11: torch-2.12:2.12.1:3.11: torch-2.14:2.14.1:3.11:
    torch-2.15:2.15.0:3.11: torch-2.13-python-3.13:2.13.0:3.13: torch-2.15-python-3.13:2.15.0:3.13:
    torch-2.13-avx2:2.13.0:3.11:avx2 torch-2.13-sse4:2.13.0:3.11:sse4)
needs=(cryptography h5py mpmath msgspec networkx numba "numpy<2.5" platformdirs rich safetensors
    securesystemslib typer filelock fsspec jinja2 sympy typing_extensions setuptools)

say() { printf '%s\n' "$*" >&2; }

# Sets what is known of a machine: name, torch, version of Python, instructions, and the folder of its environment.
known() {
    local entry
    for entry in "${machines[@]}"; do
        IFS=: read -r name torch version instructions <<<"$entry"
        there=$root/$torch-python-$version
        [ "$name" != "$1" ] || return 0
    done
    say "There is no machine $1. There are: ${machines[*]%%:*}"
    exit 2
}

setup() {
    known "$1"
    [ ! -e "$there/is-set-up" ] || return 0
    say "Setting up torch $torch on Python $version in $there"
    "python$version" -m venv --clear "$there"
    local pip=("$there/bin/python" -m pip) cuda
    "${pip[@]}" install -q "${needs[@]}"
    "${pip[@]}" install -q --no-deps "torch==$torch"
    mkdir -p "$there/cuda"
    if [ -e "$(libraries)/libtorch_cuda.so" ]; then
        # Two small ones are called when torch is loaded; the others become stubs.
        cuda=$(mktemp -d)
        "${pip[@]}" install -q --target "$cuda" --no-deps "nvidia-cuda-runtime==13.0.*" "nvidia-cuda-cupti==13.0.*"
        find "$cuda" \( -name 'libcudart.so.1?' -o -name 'libcupti.so.1?' \) -exec cp {} "$there/cuda/" \;
        rm -rf "$cuda"
        CC=gcc python3 packaging/cuda_stubs.py "$(libraries)" "$there/cuda"
    fi
    in_it "$1" -c "import torch; assert torch.__version__.split('+')[0] == '$torch', torch.__version__"
    touch "$there/is-set-up"
}

libraries() { printf '%s\n' "$there"/lib/python*/site-packages/torch/lib; }

# Libraries choose their instructions when they are loaded, by these (benchmarks/imitations.py).
chosen() {
    case "$instructions" in
        avx2) printf '%s\n' ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2 MKL_ENABLE_INSTRUCTIONS=AVX2 \
            NUMBA_CPU_NAME=haswell NUMBA_CPU_FEATURES= ;;
        sse4) printf '%s\n' ATEN_CPU_CAPABILITY=default ONEDNN_MAX_CPU_ISA=SSE41 MKL_ENABLE_INSTRUCTIONS=SSE4_2 \
            MKL_CBWR=COMPATIBLE NUMBA_CPU_NAME=nehalem NUMBA_CPU_FEATURES= ;;
    esac
}

in_it() {
    known "$1"
    shift
    local path=$repository/engine:$repository/resources:$repository
    # shellcheck disable=SC2046
    env $(chosen) OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}" TORCH_CPP_LOG_LEVEL=ERROR PYTHONPATH="$path" \
        NUMBA_CACHE_DIR="$there/numba" LD_LIBRARY_PATH="$there/cuda" "$there/bin/python" "$@"
}

campaign() {
    local one pass
    in_it "$1" -m benchmarks cross-hardware order --out "$folder"
    for pass in record replay; do
        for one in "$@"; do
            say "$one: $pass"
            known "$one"
            in_it "$one" -m benchmarks cross-hardware work --out "$folder" --machine "$one" \
                --about "torch $torch, Python $version${instructions:+, instructions of $instructions}" ||
                say "$one did not pass the self-test."
        done
    done
    for one in "${@:2}"; do
        known "$one"
        # Instructions decide nothing of what is captured.
        [ -n "$instructions" ] || in_it "$one" -m benchmarks cross-hardware capture --out "$folder" --machine "$one"
    done
    in_it "$1" -m benchmarks cross-hardware versions --out "$folder" --write "$repository/docs"
}

action=${1:-}
[ $# -eq 0 ] || shift
case "$action" in
    python) setup "$1"; in_it "$@" ;;
    setup | campaign)
        [ $# -gt 0 ] || set -- "${machines[@]%%:*}"
        for one in "$@"; do setup "$one"; done
        [ "$action" = setup ] || campaign "$@" ;;
    *) sed -n '1d; /^#/!q; s/^# \{0,1\}//p' packaging/torches.sh >&2; exit 2 ;;
esac
