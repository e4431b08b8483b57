#!/usr/bin/env bash
# The benches with a column for the same kernels in OpenCL on PoCL: benches/opencl/run.sh [options of `cargo xtask bench`].
# Debian: apt install gcc ocl-icd-opencl-dev pocl-opencl-icd. If they are missing, it prints a line and does nothing.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
root="$(cd "$here/../.." && pwd)"
program="$root/target/opencl/bench"

skip() {
    echo "skipped: no OpenCL column, $1 (apt install gcc ocl-icd-opencl-dev pocl-opencl-icd)" >&2
    exit 0
}

command -v "${CC:-cc}" >/dev/null || skip "there is no C compiler"
mkdir -p "$(dirname "$program")"
"${CC:-cc}" -O2 -std=c11 -D_POSIX_C_SOURCE=200809L -ffp-contract=off -DKERNELS="\"$here/kernels.cl\"" "$here/host.c" \
    -lOpenCL -o "$program" || skip "OpenCL's headers and library are not installed"

# One thread, as for the others; the variable has had several names.
export POCL_MAX_PTHREAD_COUNT=1 POCL_CPU_MAX_CU_COUNT=1 POCL_MAX_COMPUTE_UNITS=1 POCL_AFFINITY=0
status=0
"$program" --device || status=$?
[ "$status" -ne 4 ] || skip "there is no PoCL device"
[ "$status" -eq 0 ] || exit "$status"

cd "$root"
exec cargo xtask bench --opencl "$program" "$@"
