"""Compiles the Triton and Gluon kernels of one file to PTX, without a GPU: python make_triton.py FILE OUTPUT TARGET...

The file lists its kernels in MODULES, a dictionary from the name of a module to

    kernel      the jitted function
    runtime     types of its arguments; pointers and `i32:16` are multiples of 16
    constants   values of its `constexpr` arguments
    targets     the targets that it is for
    options     num_warps, num_stages, ...
"""

import os

from modules import make

# The default changes from release to release; kernels in use are compiled with fused multiply-adds.
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")


def without_cubin(*call):
    """Ends the stages of the compiler at PTX; ptxas comes later."""
    if call:
        _, stages, *_ = call
        stages["cubin"] = lambda source, metadata: b""
    return "ptx only", "ptx only"


def compile(entry, target):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.experimental.gluon._runtime import GluonASTSource

    triton.knobs.runtime.add_stages_inspection_hook = without_cubin
    kernel = entry["kernel"]
    runtime, constants = entry["runtime"], entry.get("constants", {})
    signature, attributes = {}, {}
    for place, name in enumerate(kernel.arg_names):
        kind = runtime.get(name, "constexpr")
        signature[name] = kind.removesuffix(":16")
        if kind.startswith("*") or kind.endswith(":16"):
            attributes[(place,)] = [["tt.divisibility", 16]]
    source = GluonASTSource if kernel.is_gluon() else ASTSource
    source = source(fn=kernel, signature=signature, constexprs=constants, attrs=attributes)
    number = int(target.removeprefix("sm_").rstrip("af"))
    return triton.compile(source, target=GPUTarget("cuda", number, 32), options=entry.get("options", {})).asm["ptx"]


if __name__ == "__main__":
    make(compile)
