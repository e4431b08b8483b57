"""What threads of a block do together: reductions, scans, tiles of a matrix, a sort, histograms, warps, the grid."""

from numba import cuda, float32, float64, int32, uint8, uint32, void

ALL = ["sm_80", "sm_90", "sm_100", "sm_120"]
BLOCK = 256
BOTH = 512
TILE = 16
PADDED = 17


def sums(x, out):
    partial = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i]
    partial[t] = total
    cuda.syncthreads()
    step = BLOCK // 2
    while step > 0:
        if t < step:
            partial[t] += partial[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, partial[0])


def warp_sums(x, out):
    each = cuda.shared.array(32, float64)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    i = cuda.grid(1)
    v = x[i] if i < x.size else 0.0
    step = 16
    while step > 0:
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, step)
        step //= 2
    if lane == 0:
        each[warp] = v
    cuda.syncthreads()
    if warp == 0:
        v = each[lane] if lane < cuda.blockDim.x // 32 else 0.0
        for step in (16, 8, 4, 2, 1):
            v += cuda.shfl_xor_sync(0xFFFFFFFF, v, step)
        if lane == 0:
            out[cuda.blockIdx.x] = v


def scan(x, out):
    a = cuda.shared.array((2, BLOCK), int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    a[0, t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    now = 0
    step = 1
    while step < BLOCK:
        a[1 - now, t] = a[now, t] + a[now, t - step] if t >= step else a[now, t]
        now = 1 - now
        cuda.syncthreads()
        step *= 2
    if i < x.size:
        out[i] = a[now, t]


def matmul(a, b, c):
    left = cuda.shared.array((TILE, PADDED), float32)
    right = cuda.shared.array((TILE, PADDED), float32)
    column, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for start in range(0, a.shape[1], TILE):
        left[ty, tx] = a[row, start + tx] if row < a.shape[0] and start + tx < a.shape[1] else 0
        right[ty, tx] = b[start + ty, column] if start + ty < b.shape[0] and column < b.shape[1] else 0
        cuda.syncthreads()
        for i in range(TILE):
            total += left[ty, i] * right[i, tx]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total


def dynamic(x, out):
    space = cuda.shared.array(0, float64)
    t = cuda.threadIdx.x
    space[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = space[cuda.blockDim.x - 1 - t]


def sort(x):
    a = cuda.shared.array(BOTH, float32)
    t = cuda.threadIdx.x
    base = cuda.blockIdx.x * 2 * BLOCK
    a[t] = x[base + t]
    a[t + BLOCK] = x[base + t + BLOCK]
    size = 2
    while size <= 2 * BLOCK:
        step = size // 2
        while step > 0:
            cuda.syncthreads()
            at = 2 * step * (t // step) + t % step
            up = (at & size) == 0
            if (a[at] > a[at + step]) == up:
                a[at], a[at + step] = a[at + step], a[at]
            step //= 2
        size *= 2
    cuda.syncthreads()
    x[base + t] = a[t]
    x[base + t + BLOCK] = a[t + BLOCK]


def histogram(x, out):
    bins = cuda.shared.array(BLOCK, uint32)
    t = cuda.threadIdx.x
    bins[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(bins, x[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(out, t, bins[t])


def atomics(i32, u64, f32, f64, out):
    i = cuda.grid(1)
    a = cuda.atomic.max(i32, 0, i) + cuda.atomic.min(i32, 1, i) + cuda.atomic.sub(i32, 2, i)
    a += cuda.atomic.and_(i32, 3, i) + cuda.atomic.or_(i32, 4, i) + cuda.atomic.xor(i32, 5, i)
    a += cuda.atomic.exch(i32, 6, i) + cuda.atomic.cas(i32, 7, i, 3)
    cuda.atomic.inc(u64, 0, 100)
    cuda.atomic.dec(u64, 1, 100)
    cuda.atomic.add(u64, 2, 5)
    cuda.atomic.max(f32, i % 4, f32[i])
    cuda.atomic.nanmin(f64, i % 4, f64[i])
    cuda.atomic.add(f64, 5, f64[i])
    out[i] = a


def votes(x, out):
    i = cuda.grid(1)
    v = x[i]
    mask = cuda.activemask()
    word = cuda.ballot_sync(mask, v > 3)
    n = cuda.popc(word & cuda.lanemask_lt())
    n += cuda.all_sync(mask, v > 0) + 2 * cuda.any_sync(mask, v > 9) + 4 * cuda.eq_sync(mask, v > 5)
    same = cuda.match_any_sync(mask, v)
    every, agreed = cuda.match_all_sync(mask, v)
    n += cuda.ffs(same) + cuda.clz(every) + agreed + cuda.brev(v)
    cuda.syncwarp(mask)
    out[i] = n + cuda.shfl_sync(mask, v, 0) + cuda.shfl_up_sync(mask, v, 1) + cuda.laneid + cuda.warpsize


def counted(x, out):
    t = cuda.threadIdx.x
    n = cuda.syncthreads_count(int32(x[t] > 0))
    n += cuda.syncthreads_and(int32(x[t] > 1))
    n += cuda.syncthreads_or(int32(x[t] > 2))
    cuda.threadfence_block()
    cuda.threadfence()
    cuda.threadfence_system()
    out[t] = n


def grid_sum(x, out, rounds):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    for _ in range(rounds):
        out[i] = x[(i + 1) % x.size] + x[i]
        grid.sync()
        x[i] = out[i] * 0.5
        grid.sync()


def last_block(x, partial, count, out):
    done = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    cuda.atomic.add(partial, cuda.blockIdx.x, x[cuda.grid(1)])
    cuda.threadfence()
    if t == 0:
        done[0] = cuda.atomic.add(count, 0, 1)
    cuda.syncthreads()
    if done[0] == cuda.gridDim.x - 1 and t == 0:
        total = 0.0
        for i in range(cuda.gridDim.x):
            total += partial[i]
        out[0] = total


def entry(kernel, *types, **options):
    return dict(kernel=kernel, signature=void(*types), targets=ALL, options=options)


MODULES = {
    "sums": entry(sums, float32[::1], float32[::1], fastmath=True),
    "warp_sums": entry(warp_sums, float64[::1], float64[::1]),
    "scan": entry(scan, int32[::1], int32[::1]),
    "matmul": entry(matmul, float32[:, ::1], float32[:, ::1], float32[:, ::1], fastmath=True, lineinfo=True),
    "matmul_strided": entry(matmul, float32[:, :], float32[:, :], float32[:, :]),
    "dynamic": entry(dynamic, float64[::1], float64[::1]),
    "sort": entry(sort, float32[::1]),
    "histogram": entry(histogram, uint8[::1], uint32[::1]),
    "atomics": entry(atomics, int32[::1], uint32[::1], float32[::1], float64[::1], int32[::1]),
    "votes": entry(votes, int32[::1], int32[::1]),
    "counted": entry(counted, int32[::1], int32[::1]),
    "grid_sum": entry(grid_sum, float32[::1], float32[::1], int32),
    "last_block": entry(last_block, float32[::1], float32[::1], int32[::1], float32[::1], launch_bounds=(256, 2)),
}
