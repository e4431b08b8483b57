// Cooperative groups: tiles, coalesced groups, reductions, scans, the grid, clusters.

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

template <int Size> __device__ int tile_sum(cg::thread_block block, int value) {
    auto tile = cg::tiled_partition<Size>(block);
    for (int i = tile.size() / 2; i > 0; i /= 2) value += tile.shfl_down(value, i);
    return tile.shfl(value, 0) + tile.meta_group_rank();
}

__global__ void tiles(int* out) {
    auto block = cg::this_thread_block();
    int value = block.thread_rank();
    out[value] = tile_sum<32>(block, value) + tile_sum<16>(block, value) + tile_sum<4>(block, value);
    auto tile = cg::tiled_partition<8>(block);
    out[value + 1024] = tile.match_any(value & 3) + tile.ballot(value > 4) + tile.any(value) + tile.all(value);
    cg::sync(tile);
    int predicate;
    out[value + 2048] = tile.match_all(value, predicate) + predicate;
    block.sync();
}

__global__ void reductions(int* out, float* real, unsigned long long* wide) {
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int r = tile.thread_rank();
    out[0] = cg::reduce(tile, r, cg::plus<int>());
    out[1] = cg::reduce(tile, r, cg::less<int>());
    out[2] = cg::reduce(tile, unsigned(r), cg::bit_xor<unsigned>());
    real[0] = cg::reduce(tile, float(r), cg::greater<float>());
    wide[0] = cg::reduce(tile, 1ull << r, cg::bit_or<unsigned long long>());
    out[3 + r] = cg::inclusive_scan(tile, r);
    out[99 + r] = cg::exclusive_scan(tile, r, cg::plus<int>());
    if (r % 3 == 1) {
        auto active = cg::coalesced_threads();
        out[200 + active.thread_rank()] = active.shfl(r, 0) + active.size() + cg::reduce(active, r, cg::plus<int>());
    }
    auto labels = cg::labeled_partition(tile, r % 5);
    out[300 + r] = labels.size() + cg::reduce(labels, r, cg::plus<int>());
    auto halves = cg::binary_partition(tile, r > 11);
    out[400 + r] = halves.thread_rank() + halves.shfl(r, 0);
    cg::invoke_one(tile, [&] { atomicAdd(out + 500, 1); });
}

__global__ void whole_grid(int* data, int n) {
    auto grid = cg::this_grid();
    for (unsigned long long i = grid.thread_rank(); i < n; i += grid.size()) data[i] += 1;
    grid.sync();
    if (grid.thread_rank() == 0) data[0] = grid.is_valid() + grid.num_blocks() + grid.block_rank();
    auto token = grid.barrier_arrive();
    grid.barrier_wait(std::move(token));
}

__global__ void copies(const int* in, int* out) {
    extern __shared__ int staged[];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, staged, in + block.group_index().x * 256, sizeof(int) * 256);
    cg::wait(block);
    out[block.thread_rank()] = staged[255 - block.thread_rank()];
    auto token = block.barrier_arrive();
    block.barrier_wait(std::move(token));
    __shared__ cg::block_tile_memory<256> scratch;
    auto large = cg::this_thread_block(scratch);
    auto tile = cg::tiled_partition<128>(large);
    out[block.thread_rank()] = cg::reduce(tile, staged[block.thread_rank()], cg::plus<int>());
    tile.sync();
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
__global__ void __cluster_dims__(2, 1, 1) clusters(int* out) {
    __shared__ int box[32];
    auto cluster = cg::this_cluster();
    box[threadIdx.x] = cluster.block_rank() * 100 + threadIdx.x;
    cluster.sync();
    int* peer = cluster.map_shared_rank(box, cluster.block_rank() ^ 1);
    out[cluster.thread_rank()] = peer[threadIdx.x] + cluster.query_shared_rank(peer) + cluster.num_blocks();
    auto token = cluster.barrier_arrive();
    cluster.barrier_wait(std::move(token));
    atomicAdd(peer + 1, 2);
    cg::cluster_group::sync();
}
#endif
