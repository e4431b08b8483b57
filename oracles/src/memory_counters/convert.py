"""Turns what measure.sh and compute.sh have measured into files for the tests: python3 convert.py DIRECTORY OUT, where DIRECTORY has the
lists of launches (GROUP.json, compute.json) and OUT the tables (GROUP.csv, compute.csv, copies.csv). Writes OUT/measured.txt and
OUT/compute.txt, in the forms of `tests/hardware/profile`."""

import csv
import json
import pathlib
import sys

WAVEFRONTS, CONFLICTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared"
T = "l1tex__t_{}_pipe_lsu_mem_{}"
# the two counters of each group of launches, in the order of the tests
GROUPS = {
    "shared": (WAVEFRONTS, CONFLICTS),
    "matrix": (WAVEFRONTS, CONFLICTS),
    "shared_atom": (WAVEFRONTS, CONFLICTS),
    "global_ld": (T.format("requests", "global_op_ld"), T.format("sectors", "global_op_ld")),
    "global_st": (T.format("requests", "global_op_st"), T.format("sectors", "global_op_st")),
    "global_atom": (T.format("requests", "global_op_atom"), T.format("sectors", "global_op_atom")),
    "global_red": (T.format("requests", "global_op_red"), T.format("sectors", "global_op_red")),
    "local": (T.format("requests", "local_op_ld"), T.format("sectors", "local_op_ld")),
    "copy": (T.format("requests", "global_op_ldgsts_cache_access"), T.format("sectors", "global_op_ldgsts_cache_access")),
}
# metrics of arithmetic, tensor operations and copies, with the names that they have in compute.txt
OP = "smsp__sass_thread_inst_executed_op_{}_pred_on"
COMPUTE = {name: OP.format(name) for name in "fadd fmul ffma hadd hmul hfma dadd dmul dfma fp16 fp32 fp64 integer".split()}
for ty in ("fp16", "bf16_dst_fp32", "tf32_dst_fp32", "fp8", "int8", "int1", "fp64"):
    COMPUTE["tensor_" + ty.split("_")[0]] = "sm__ops_path_tensor_src_" + ty
COMPUTE |= {
    "gmma_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma",
    "copy_sectors": "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld",
    "copy_sectors_multicast": "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld_dest_multicast",
    "copy_written": "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st",
    "copy_reduced": "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_red",
    "const_requests": "idc__requests",
}


def table(path):
    """The rows of a table of ncu: the kernel, and its metrics without `.sum`."""
    rows = [row for row in csv.reader(path.open()) if len(row) > 5]
    if not rows:
        return []
    head = [name.removesuffix(".sum") for name in rows[0]]
    kernel = head.index("Kernel Name")
    return [(row[kernel], dict(zip(head, row))) for row in rows[2:]]


def number(metrics, name):
    text = metrics.get(name, "").replace(",", "")
    return str(int(float(text))) if text and text != "nan" else "-"


def offsets(lanes):
    step = lanes[1] - lanes[0]
    regular = all(at == lanes[0] + i * step for i, at in enumerate(lanes)) and step >= 0
    return f"{lanes[0]}+{step}" if regular else ",".join(map(str, lanes))


def main(directory, out):
    with (out / "measured.txt").open("w") as to:
        for group, counters in GROUPS.items():
            if not (out / f"{group}.csv").exists():
                continue
            launches = json.loads((directory / f"{group}.json").read_text())
            for (name, lanes, mask), (kernel, metrics) in zip(launches, table(out / f"{group}.csv")):
                assert name == kernel, (name, kernel)
                to.write(f"{name} {mask:08x} {offsets(lanes)} {' '.join(number(metrics, c) for c in counters)}\n")
    found = {}
    for name in ("compute", "copies"):
        if (out / f"{name}.csv").exists():
            for kernel, metrics in table(out / f"{name}.csv"):
                found.setdefault(kernel, {}).update(metrics)
    with (out / "compute.txt").open("w") as to:
        for kernel, metrics in found.items():
            values = ((short, number(metrics, long)) for short, long in COMPUTE.items())
            to.write(" ".join([kernel, *(f"{short}={value}" for short, value in values if value not in ("-", "0"))]) + "\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
