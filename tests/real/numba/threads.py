"""What each thread does alone: math, complex numbers, half precision, local arrays, calls, debugging, random numbers."""

import math

import numpy as np
from numba import complex64, cuda, float32, float64, int32, int64, uint8, uint32, void
from numba.cuda.random import xoroshiro128p_normal_float32, xoroshiro128p_type, xoroshiro128p_uniform_float64
from numba.types import float16

ALL = ["sm_80", "sm_90", "sm_100", "sm_120"]
WEIGHTS = np.array([1, 4, 6, 4, 1], dtype=np.float32)


def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


def mathematics(x, out):
    i = cuda.grid(1)
    v = x[i]
    v = math.sin(v) + math.exp(v) * math.log1p(abs(v)) - math.pow(v, 1.5) + math.erf(v) / math.tanh(v + 2)
    v += math.fmod(v, 3.0) + math.atan2(v, 2.0) + math.floor(v) + math.hypot(v, 1.0) + math.gamma(v)
    whole, fraction = math.modf(v)
    mantissa, exponent = math.frexp(whole)
    out[i] = math.ldexp(mantissa, exponent) + cuda.fma(fraction, v, 1.0) if not math.isnan(v) else 0.0


def integers(a, b, out):
    i = cuda.grid(1)
    x, y = a[i], b[i]
    out[i] = x // y + x % y - (x >> 3) ^ (y << 2) | cuda.selp(x > y, x, y)


def mandelbrot(low, high, image, most):
    height, width = image.shape
    x0, y0 = cuda.grid(2)
    dx, dy = cuda.gridsize(2)
    for x in range(x0, width, dx):
        for y in range(y0, height, dy):
            c = complex(low.real + x * (high.real - low.real) / width, low.imag + y * (high.imag - low.imag) / height)
            z = 0j
            n = 0
            while n < most and z.real * z.real + z.imag * z.imag < 4:
                z = z * z + c
                n += 1
            image[y, x] = n


def stencil(x, out):
    weights = cuda.const.array_like(WEIGHTS)
    i = cuda.grid(1)
    if i >= 2 and i < x.size - 2:
        total = float32(0)
        for k in range(5):
            total += weights[k] * x[i + k - 2]
        out[i] = total / 16


def local(x, out, n):
    space = cuda.local.array(32, float32)
    i = cuda.grid(1)
    for k in range(n):
        space[k % 32] = x[i * n + k]
    total = float32(0)
    for k in range(32):
        total += space[(k * n) % 32]
    out[i] = total


def halves(x, y, out):
    i = cuda.grid(1)
    a, b = x[i], y[i]
    out[i] = cuda.fp16.hfma(a, b, a) + a / b - cuda.fp16.hsin(a) if a < b else -abs(a)


@cuda.jit(device=True, inline=False)
def factor(n, d):
    while n % d != 0:
        d += 1
    return d


@cuda.jit(device=True)
def swap(a, i, j):
    a[i], a[j] = a[j], a[i]


def calls(x, out):
    i = cuda.grid(1)
    out[i] = factor(x[i], 2) + factor(x[i] + 1, 3)
    if out[i] > 5:
        swap(out, i, 0)


def checked(x, out):
    i = cuda.grid(1)
    if x[i] < 0:
        raise ValueError("negative")
    out[i] = 10 // x[i]


def printed(x):
    i = cuda.grid(1)
    if x[i] != 0:
        print("thread", i, "has", x[i])


def random(states, out):
    i = cuda.grid(1)
    v = xoroshiro128p_uniform_float64(states, i)
    out[i] = v + xoroshiro128p_normal_float32(states, i)


def particles(p, dt):
    i = cuda.grid(1)
    if i < p.size:
        p[i].x += p[i].v * dt
        if p[i].x > 1.0:
            p[i].kind = 2


def vectors(x, out):
    i = cuda.grid(1)
    a = cuda.float32x4(x[i], x[i + 1], x[i + 2], 1.0)
    b = cuda.float32x2(a.x, a.w)
    out[i] = a.x * b.y + a.z - b.x


def spin(lock, x):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        cuda.nanosleep(100)
    cuda.threadfence()
    x[0] += cuda.grid(1)
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)


PARTICLE = np.dtype([("x", np.float32), ("v", np.float32), ("kind", np.int16)], align=True)


def entry(kernel, *types, **options):
    return dict(kernel=kernel, signature=void(*types), targets=ALL, options=options)


def particle_entry():
    from numba.np.numpy_support import from_dtype

    return entry(particles, from_dtype(PARTICLE)[::1], float32)


MODULES = {
    "saxpy": entry(saxpy, float32, float32[::1], float32[::1], fastmath=True),
    "math_f32": entry(mathematics, float32[::1], float32[::1]),
    "math_f32_fast": entry(mathematics, float32[::1], float32[::1], fastmath=True),
    "math_f64": entry(mathematics, float64[::1], float64[::1]),
    "integers": entry(integers, int64[::1], int64[::1], int64[::1]),
    "mandelbrot": entry(mandelbrot, complex64, complex64, uint8[:, ::1], int32),
    "stencil": entry(stencil, float32[::1], float32[::1]),
    "local": entry(local, float32[::1], float32[::1], int32),
    "halves": entry(halves, float16[::1], float16[::1], float16[::1]),
    "calls": entry(calls, uint32[::1], uint32[::1]),
    "checked_debug": entry(checked, int32[::1], int32[::1], debug=True, opt=False),
    "sums_debug": entry(local, float32[::1], float32[::1], int32, debug=True, opt=False),
    "printed": entry(printed, int32[::1]),
    "random": entry(random, xoroshiro128p_type[::1], float64[::1]),
    "particles": particle_entry(),
    "vectors": entry(vectors, float32[::1], float32[::1]),
    "spin": entry(spin, int32[::1], int64[::1]),
}
