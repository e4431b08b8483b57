"""Runs kernels of this directory on a GPU (sm_90a) under compute-sanitizer: sanitizer.py CUBINS RESULT

CUBINS has the kernels as N.wrong.cubin and N.right.cubin (ptxas -arch=sm_90a). RESULT (`sanitizer.txt`) gets one line for each kernel: the
tools that reported something. Kernels that can wait forever are in `HANGS` and never run.
"""

import concurrent.futures
import ctypes
import pathlib
import re
import subprocess
import sys

TOOLS = ["memcheck", "racecheck", "synccheck", "initcheck"]
# A wait or barrier that cannot end, an election or shuffle that may not, a poll of another GPU.
HANGS = "09 10 11 12 15 16 17 19 20 21 22 23 24 26 28 29 36 57 58 59 60 61".split()
HERE = pathlib.Path(__file__).resolve().parent


def call(name, *arguments):
    status = getattr(ctypes.CDLL("libcuda.so.1"), name)(*arguments)
    if status:
        sys.exit(f"{name}: {status}")


def to_device(data):
    address = ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(len(data)))
    call("cuMemcpyHtoD_v2", address, data, ctypes.c_size_t(len(data)))
    return address


def tensor_map(tensor, size):
    """A map of `size` bytes in one dimension."""
    space = ctypes.create_string_buffer(256)
    at = (ctypes.addressof(space) + 127) & ~127
    one = lambda kind, value: (kind * 1)(value)
    call("cuTensorMapEncodeTiled", ctypes.c_void_p(at), 0, 1, tensor, one(ctypes.c_uint64, size), one(ctypes.c_uint64, 0), one(ctypes.c_uint32, size),
         one(ctypes.c_uint32, 1), 0, 0, 0, 0)
    return ctypes.string_at(at, 128)


def launch(cubin):
    """As `run!` and `launch` of tests/bugs.rs."""
    text = (HERE / (cubin.stem + ".ptx")).read_text()
    device, context, module, function = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    call("cuModuleLoadData", ctypes.byref(module), cubin.read_bytes())
    call("cuModuleGetFunction", ctypes.byref(function), module, b"k")
    pair = [to_device(bytes([1]) * 16384), to_device(bytes(16384))]
    if ".b8 map[128]" in text:
        given = pair + [ctypes.create_string_buffer(tensor_map(to_device(bytes(32)), 32), 128)]
    elif re.search(r"\bmap\b", text):
        given = [to_device(tensor_map(to_device(bytes([1]) * 128), 128)), to_device(bytes([2]) * 128)]
    else:
        given = pair
    number = lambda word: int((re.search(rf"\.{word} (\d+)", text) or [0, 1])[1])
    arguments = (ctypes.c_void_p * len(given))(*(ctypes.addressof(value) for value in given))
    call("cuLaunchKernel", function, number("reqnctapercluster"), 1, 1, number("reqntid"), 1, 1, 0, None, arguments, None)
    call("cuCtxSynchronize")


def check(job):
    """Does the tool report anything?"""
    cubin, tool = job
    command = ["compute-sanitizer", "--tool", tool, sys.executable, __file__, str(cubin)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    summary = re.search(r"SUMMARY: (\d+) (?:error|hazard)", done.stdout)
    if not summary:
        sys.exit(f"{cubin.name}: {done.stdout}{done.stderr}")
    return int(summary[1]) > 0


def main():
    cubins = sorted(c for c in pathlib.Path(sys.argv[1]).glob("*.cubin") if c.name[:2] not in HANGS)
    jobs = [(c, tool) for c in cubins for tool in TOOLS]
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        found = dict(zip(jobs, pool.map(check, jobs)))
    with open(sys.argv[2], "w") as out:
        for cubin in cubins:
            print(f"{cubin.stem}:", " ".join(tool for tool in TOOLS if found[cubin, tool]) or "nothing", file=out)


if len(sys.argv) == 2:
    launch(pathlib.Path(sys.argv[1]))
else:
    main()
