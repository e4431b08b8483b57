// nvcuda::wmma: every fragment type, layouts, accumulators.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

template <int M, int N, int K, typename In, typename Out, typename LA, typename LB, typename Stored>
__device__ void product(const Stored* a, const Stored* b, Out* c, unsigned ld) {
    wmma::fragment<wmma::matrix_a, M, N, K, In, LA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, In, LB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, Out> fc, fd;
    wmma::fill_fragment(fc, Out(1));
    wmma::load_matrix_sync(fa, a, ld);
    wmma::load_matrix_sync(fb, b, ld);
    wmma::load_matrix_sync(fd, c, ld, wmma::mem_row_major);
    wmma::mma_sync(fc, fa, fb, fd);
    for (int i = 0; i < fc.num_elements; i++) fc.x[i] = fc.x[i] + fd.x[i];
    wmma::store_matrix_sync(c, fc, ld, wmma::mem_col_major);
}

using row = wmma::row_major;
using col = wmma::col_major;

__global__ void halves(const half* a, const half* b, float* c, half* d, unsigned ld) {
    product<16, 16, 16, half, float, row, col>(a, b, c, ld);
    product<16, 16, 16, half, float, col, col>(a, b, c + 256, 16);
    product<32, 8, 16, half, float, row, row>(a, b, c, ld);
    product<8, 32, 16, half, float, col, row>(a, b, c, ld);
    product<16, 16, 16, half, half, row, row>(a, b, d, ld);
    product<8, 32, 16, half, half, col, col>(a, b, d, ld);
}

__global__ void bytes(const signed char* a, const unsigned char* b, int* c, unsigned ld) {
    product<16, 16, 16, signed char, int, row, col>(a, a, c, ld);
    product<32, 8, 16, unsigned char, int, row, row>(b, b, c, ld);
    product<8, 32, 16, signed char, int, col, col>(a, a, c, 32);
}

__global__ void saturated(const signed char* a, int* c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, row> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, col> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> fc;
    wmma::fill_fragment(fc, 0);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, a + 256, 16);
    wmma::mma_sync(fc, fa, fb, fc, true);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

namespace small = wmma::experimental;

__global__ void nibbles(const int* a, int* c, unsigned ld) {
    product<8, 8, 32, small::precision::s4, int, row, col>(a, a, c, ld);
    product<8, 8, 32, small::precision::u4, int, row, col>(a, a, c, ld);
    wmma::fragment<wmma::matrix_a, 8, 8, 128, small::precision::b1, row> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 128, small::precision::b1, col> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 128, int> fc;
    wmma::fill_fragment(fc, 0);
    wmma::load_matrix_sync(fa, a, ld);
    wmma::load_matrix_sync(fb, a, ld);
    wmma::bmma_sync(fc, fa, fb, fc);
#if __CUDA_ARCH__ >= 800
    wmma::bmma_sync(fc, fa, fb, fc, small::bmmaBitOpAND);
#endif
    wmma::store_matrix_sync(c, fc, ld, wmma::mem_row_major);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
__global__ void newer(const __nv_bfloat16* a, const float* b, const double* c, float* d, double* e, unsigned ld) {
    product<16, 16, 16, __nv_bfloat16, float, row, col>(a, a, d, ld);
    product<32, 8, 16, __nv_bfloat16, float, col, row>(a, a, d, ld);
    product<16, 16, 8, wmma::precision::tf32, float, row, col>(b, b, d, ld);
    product<8, 8, 4, double, double, row, col>(c, c, e, ld);
    product<8, 8, 4, double, double, col, row>(c, c, e, 16);
}
#endif

__global__ void __launch_bounds__(128) shared_tiles(const half* a, float* c) {
    __shared__ half tile[16 * 24];
    tile[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, row> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, row> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.f);
    wmma::load_matrix_sync(fa, tile, 24);
    wmma::load_matrix_sync(fb, tile, 24);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
