#!/bin/bash
# Measures the launches of make.py with Nsight Compute: measure.sh DIRECTORY OUT, where DIRECTORY has `kernels.cubin`. Writes
# OUT/GROUP.csv, whose rows are in the order of GROUP.json, and OUT/metrics.txt, the names of all metrics. 90 s.
out=$(realpath "$2"); here=$(realpath "$(dirname "$0")"); cd "$1" || exit 1
ncu --query-metrics --chip gh100 2>&1 | awk '{print $1}' > "$out/metrics.txt"
measure() { # group, seconds, base names of metrics
  local group=$1 seconds=$2 metrics= name; shift 2
  for name in "$@"; do
    if [ ! -s "$out/metrics.txt" ] || grep -qx "$name" "$out/metrics.txt"; then metrics+=${metrics:+,}$name.sum; else echo "no metric $name"; fi
  done
  timeout $((seconds + 15)) ncu --clock-control none --cache-control none --csv --page raw --print-units base --metrics "$metrics" \
    python3 "$here/runner.py" "$group.json" "$seconds" > "$out/$group.csv" 2> "$out/$group.err"
  echo "$group: $(tail -1 "$out/$group.err") $(grep -c kernel "$out/$group.csv") lines, $SECONDS s"
}
W=l1tex__data_pipe_lsu_wavefronts; B=l1tex__data_bank_conflicts_pipe_lsu; R=l1tex__t_requests_pipe_lsu_mem; S=l1tex__t_sectors_pipe_lsu_mem
measure shared 12 ${W}_mem_shared_op_ld ${W}_mem_shared_op_st ${W}_mem_shared ${B}_mem_shared
measure global_ld 8 ${R}_global_op_ld ${S}_global_op_ld $W
measure matrix 10 ${W}_mem_shared_op_ld ${W}_mem_shared_op_st ${W}_mem_shared ${B}_mem_shared
measure global_st 8 ${R}_global_op_st ${S}_global_op_st $W
measure shared_atom 6 ${W}_mem_shared_op_ld ${W}_mem_shared_op_st ${W}_mem_shared ${W}_mem_shared_op_atom ${B}_mem_shared ${B}_mem_shared_op_atom
measure global_atom 5 ${R}_global_op_atom ${S}_global_op_atom ${S}_global_op_red $W
measure global_red 4 ${R}_global_op_red ${S}_global_op_red ${S}_global_op_atom $W
measure local 5 ${R}_local_op_ld ${S}_local_op_ld ${R}_local_op_st ${S}_local_op_st
measure copy 5 ${R}_global_op_ldgsts_cache_access ${S}_global_op_ldgsts_cache_access ${W}_mem_shared ${B}_mem_shared_op_ldgsts
