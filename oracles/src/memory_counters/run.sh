#!/bin/bash
# Measures all kernels with Nsight Compute, and writes `out` (or $OUT): `measured.txt` and `compute.txt`. Three minutes on an H200.
cd "$(dirname "$0")" || exit 1
out=${OUT:-out}; mkdir -p "$out"
bash measure.sh data "$out"
bash compute.sh data "$out"
python3 convert.py data "$out" && wc -l "$out/measured.txt" "$out/compute.txt"
