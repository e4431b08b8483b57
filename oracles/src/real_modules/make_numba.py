"""Compiles the numba kernels of one file to PTX, without a GPU: python make_numba.py FILE OUTPUT TARGET...

The file lists its kernels in MODULES, a dictionary from the name of a module to

    kernel      the function
    signature   types of its arguments
    targets     the targets that it is for
    options     fastmath, lineinfo, debug, ...
"""

from types import SimpleNamespace

from modules import make


def compile(entry, target):
    from numba import cuda
    from numba.cuda import dispatcher

    capability = divmod(int(target.removeprefix("sm_")), 10)
    # Functions that kernels call are compiled for the current device.
    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=capability)
    return cuda.compile_ptx(entry["kernel"], entry["signature"], cc=capability, **entry.get("options", {}))[0]


if __name__ == "__main__":
    make(compile)
