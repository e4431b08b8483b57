"""Compiles the CuTe DSL kernels of one file to PTX, without a GPU: python make_cute.py FILE OUTPUT TARGET...

The file lists its kernels in MODULES, a dictionary from the name of a module to

    kernel      the function on the host that launches the kernel
    arguments   what it is called with
    targets     the targets that it is for
"""

import os
import tempfile

from modules import make

# Nothing is kept from one run to the next.
os.environ["CUTE_DSL_DISABLE_FILE_CACHING"] = "1"


def compile(entry, target):
    import cutlass.cute as cute

    architecture = target if target == "sm_80" else f"{target}a"
    with tempfile.TemporaryDirectory() as directory:
        options = f"--gpu-arch {architecture} --keep-ptx --dump-dir {directory}"
        return cute.compile(entry["kernel"], *entry["arguments"], options=options).__ptx__


if __name__ == "__main__":
    make(compile)
