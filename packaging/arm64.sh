#!/usr/bin/env bash
# An emulated AArch64 machine in a folder, and the campaign of benchmarks/cross_hardware.py between it and this machine.
#
#   arm64.sh campaign [PYTHON]   what `make arm64` does; PYTHON is this machine's
#   arm64.sh setup               makes the emulated machine, if it is not there
#   arm64.sh python ARGS...      runs python in it, with this repository's engine, resources and benchmarks
#
# It needs Linux on x86-64, Debian or its kin, root rights (for chroot and for apt-get), about 6 GB of disk, and access to
# Debian's and Python's package index: 15 to 25 minutes for the setup, half an hour for the campaign. qemu-user-static runs
# Debian's arm64 Python and PyPI's aarch64 torch, whose BLAS (NVPL), convolutions (Arm Compute Library), vector functions and
# instruction set are others than an x86 machine's. It says nothing of a real processor's faults.
#
#   COUNTERFOIL_ARM64_ROOT     the folder of the emulated machine (build/arm64); one that exists is used as it is, if
#                              it has /usr/bin/python3 and the packages below /opt/site, torch's CUDA stubs in /opt/cuda
#   COUNTERFOIL_ARM64_FOLDER   the campaign's folder (build/cross-hardware); a campaign that was stopped goes on
#   COUNTERFOIL_ARM64_TORCH    the version of torch to set up (2.13.0)
#   QEMU_CPU                   the processor (cortex-a72)
#
# An AArch64 machine that is not emulated needs nothing of this: see docs/cross-hardware.md, "A further machine".
set -euo pipefail
cd "$(dirname "$0")/.."
repository=$PWD
root=$(realpath -m "${COUNTERFOIL_ARM64_ROOT:-build/arm64}")
folder=$(realpath -m "${COUNTERFOIL_ARM64_FOLDER:-build/cross-hardware}")
torch=${COUNTERFOIL_ARM64_TORCH:-2.13.0}
# With SVE vectors of 512 bits this torch's float32 products come out wrong: machines that the self-test must not pass
# unless they compute rightly. Name, and qemu's processor.
others=(aarch64-sve128=max,sve-default-vector-length=16 aarch64-sve256=max,sve-default-vector-length=32
    aarch64-sve512=max,sve-default-vector-length=64 aarch64-neoverse-n1=neoverse-n1)

say() { printf '%s\n' "$*" >&2; }

need_root() {
    [ "$(id -u)" -eq 0 ] && return
    say "The emulated machine needs root rights: for chroot, and for apt-get where packages are missing."
    say "Run it as root, or use a real AArch64 machine: docs/cross-hardware.md, \"A further machine\"."
    exit 1
}

install_tools() {
    local tool missing=""
    for tool in qemu-aarch64-static:qemu-user-static mmdebstrap:mmdebstrap arch-test:arch-test \
        aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu update-binfmts:binfmt-support; do
        command -v "${tool%%:*}" >/dev/null || missing="$missing ${tool#*:}"
    done
    [ -n "$missing" ] || return 0
    if ! command -v apt-get >/dev/null; then
        say "These are missing, by their names in Debian:$missing"
        exit 1
    fi
    say "Installing$missing"
    apt-get update -q
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends $missing libc6-dev-arm64-cross
}

# The kernel hands programs of the other architecture to qemu, also those that python starts there.
register() {
    mountpoint -q /proc/sys/fs/binfmt_misc || mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
    [ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || update-binfmts --enable qemu-aarch64
}

setup() {
    need_root
    if [ -e "$root/opt/counterfoil-is-set-up" ] || { [ -x "$root/usr/bin/python3" ] && [ -d "$root/opt/site/torch" ]; }; then
        [ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || { install_tools && register; }
        return
    fi
    install_tools
    register
    say "Setting up an AArch64 machine in $root"
    [ -x "$root/usr/bin/python3" ] ||
        mmdebstrap --arch=arm64 --variant=minbase --include=python3,ca-certificates bookworm "$root"
    local site=$root/opt/site.new python wheels minor nvidia
    mkdir -p "$site" "$root/opt/cuda"
    python=$(chroot "$root" /usr/bin/python3 -c 'import sys; print("%d%d" % sys.version_info[:2])')
    wheels=(--only-binary=:all: --implementation cp --python-version "$python")
    for minor in $(seq 36 -1 17); do wheels+=(--platform "manylinux_2_${minor}_aarch64"); done
    wheels+=(--platform manylinux2014_aarch64)
    local pip="python3 -m pip"
    [ ! -x .venv/bin/python ] || pip=".venv/bin/python -m pip"
    # What the engine needs, and torch's own needs but for its CUDA libraries: 3 GB that nothing here calls.
    $pip install -q --target "$site" --upgrade "${wheels[@]}" \
        cryptography h5py mpmath msgspec networkx numba "numpy<2.5" platformdirs rich safetensors \
        securesystemslib typer filelock fsspec jinja2 sympy typing_extensions setuptools transformers tokenizers
    $pip install -q --target "$site" --upgrade --no-deps "${wheels[@]}" "torch==$torch"
    # Two small ones are called when torch is loaded; the others become stubs.
    nvidia=$(mktemp -d)
    $pip install -q --target "$nvidia" --no-deps "${wheels[@]}" "nvidia-cuda-runtime==13.0.*" "nvidia-cuda-cupti==13.0.*"
    find "$nvidia" \( -name 'libcudart.so.1?' -o -name 'libcupti.so.1?' \) -exec cp {} "$root/opt/cuda/" \;
    rm -rf "$nvidia"
    python3 packaging/cuda_stubs.py "$site/torch/lib" "$root/opt/cuda"
    mv "$site" "$root/opt/site"
    touch "$root/opt/counterfoil-is-set-up"
}

# Mounts lie in a namespace of their own: they end with the program, and nobody deletes through them.
emulated() {
    mkdir -p "$root/opt/source" "$root/opt/campaign" "$root/opt/numba" "$folder"
    rm -rf "$root/opt/source"/*
    cp -a "$repository/engine" "$repository/resources" "$repository/benchmarks" "$root/opt/source/"
    # shellcheck disable=SC2016
    unshare --mount bash -c '
        root=$1 folder=$2; shift 2
        mount --bind /dev "$root/dev"
        mount -t proc proc "$root/proc"   # not /sys: torch would look for x86 processors there and give up
        mount --bind "$folder" "$root/opt/campaign"
        exec chroot "$root" /usr/bin/env -i -C /opt/source "$@"' _ "$root" "$folder" \
        PATH=/usr/bin:/bin LANG=C.UTF-8 COLUMNS=160 OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}" TORCH_CPP_LOG_LEVEL=ERROR \
        QEMU_CPU="${QEMU_CPU:-cortex-a72}" NUMBA_CACHE_DIR=/opt/numba LD_LIBRARY_PATH=/opt/cuda \
        PYTHONPATH=/opt/site:/opt/source/engine:/opt/source/resources:/opt/source /usr/bin/python3 "$@"
}

campaign() {
    local python=${1:-.venv/bin/python} here entry
    here=$(uname -m)
    local about="AArch64 emulated by $(qemu-aarch64-static --version | head -1 | sed 's/ (.*//'), PyPI's aarch64 torch, as"
    "$python" -m benchmarks cross-hardware order --out "$folder"
    "$python" -m benchmarks cross-hardware work --out "$folder" --machine "$here"
    emulated -m benchmarks cross-hardware work --out /opt/campaign --machine aarch64 --about "$about ${QEMU_CPU:-cortex-a72}"
    "$python" -m benchmarks cross-hardware work --out "$folder" --machine "$here"
    for entry in "${others[@]}"; do
        QEMU_CPU=${entry#*=} emulated -m benchmarks cross-hardware selftest --out /opt/campaign --machine "${entry%%=*}" \
            --about "$about ${entry#*=}" || say "${entry%%=*} did not pass the self-test."
    done
    "$python" -m benchmarks cross-hardware page --out "$folder" --write "$repository/docs"
}

action=${1:-campaign}
[ $# -eq 0 ] || shift
case "$action" in
    setup) setup ;;
    python) setup; emulated "$@" ;;
    campaign) setup; campaign "$@" ;;
    *) sed -n '1d; /^#/!q; s/^# \{0,1\}//p' packaging/arm64.sh >&2; exit 2 ;;
esac
