#!/bin/bash
# Measures the kernels of compute.py with Nsight Compute: compute.sh DIRECTORY OUT, where DIRECTORY has `compute.cubin`
# and `rates.cubin`. Writes OUT/compute.csv, OUT/rates.csv and OUT/copies.csv. 60 s.
out=$(realpath "$2"); here=$(realpath "$(dirname "$0")"); cd "$1" || exit 1
[ -s "$out/metrics.txt" ] || ncu --query-metrics --chip gh100 2>&1 | awk '{print $1}' > "$out/metrics.txt"
measure() { # file, seconds, module, kernels, names of metrics as a regular expression
  grep -E "$5" "$out/metrics.txt" | sort -u > "$out/$1.metrics"
  timeout "$2" ncu --clock-control none --cache-control none --csv --page raw --print-units base \
    --metrics "$(sed 's/$/.sum/' "$out/$1.metrics" | paste -sd,)" python3 "$here/compute_runner.py" "$3" "$4" > "$out/$1.csv" 2> "$out/$1.err"
  echo "$1: $(wc -l < "$out/$1.metrics") metrics, $(wc -l < "$out/$1.csv") lines, $SECONDS s, $(tail -1 "$out/$1.err")"
}
measure compute 60 compute . '^(smsp__sass_thread_inst_executed_op_.*_pred_on|sm__ops_path_tensor.*|sm__inst_executed_pipe_tensor.*|smsp__inst_executed|smsp__thread_inst_executed|smsp__thread_inst_executed_pred_on)$'
measure rates 40 rates . '^(sm__cycles_active|smsp__inst_executed|sm__inst_executed_pipe_tensor_op_gmma)$'
measure copies 60 compute '^(wgmma|bulk|tensor|const|red|barriers)' '^(.*(tma|ublk|utma|bulk).*|idc__request.*|l1tex__data_(bank|pipe).*|lts__t_sectors_op_.*|l1tex__m_(xbar2l1tex|l1tex2xbar)_(read|write)_bytes.*|smsp__sass_inst_executed_op_.*|smsp__inst_executed_op_.*)$'
