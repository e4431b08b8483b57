"""Launches of tests/real/cute whose arguments are tensor maps and structs without pointers."""

import struct

import numpy as np

from launch import Launch, Map, Struct, random, result, rounded
from of_triton import COARSE, SUM


def wgmma(kind, tile, cluster, m, n, k):
    def make():
        bm, bn, bk = tile
        a, b = random(kind, m, k), random(kind, n, k)
        expected = a.values() @ b.values().T
        sums = COARSE if kind == "e4m3" else SUM
        c = result("f16", expected, rounded(expected, "f16", np.abs(a.values()) @ np.abs(b.values().T) * sums))
        shape = lambda buffer: Struct(struct.pack("<ii", *buffer.array.shape))
        arguments = [
            Struct(b"\0"), Map(a, (bm // cluster[1], bk)), shape(a), Map(b, (bn // cluster[0], bk)), shape(b),
            Map(c, (64, 32), 64), shape(c),
        ]
        return Launch(arguments, (m // bm, n // bn), f"{m} x {n} x {k}", cluster=(*cluster, 1))

    return make


HOPPER = ["sm_90"]
LAUNCHES = {
    "wgmma_gemm": (HOPPER, wgmma("f16", (64, 128, 64), (1, 1), 128, 256, 512)),
    "wgmma_gemm_wide": (HOPPER, wgmma("bf16", (64, 256, 64), (1, 1), 128, 256, 320)),
    "wgmma_gemm_cluster": (HOPPER, wgmma("f16", (64, 128, 64), (2, 1), 128, 256, 512)),
    "wgmma_gemm_special": (HOPPER, wgmma("f16", (64, 128, 64), (1, 1), 128, 256, 512)),
    "wgmma_gemm_special_f8": (HOPPER, wgmma("e4m3", (64, 128, 128), (1, 2), 128, 256, 512)),
    "wgmma_gemm_special_cluster": (HOPPER, wgmma("f16", (64, 256, 64), (2, 2), 128, 512, 384)),
}
