// Attributes of kernels: bounds, clusters, registers, spills, grid constants, aliases of names.

template <int Threads> __global__ void __launch_bounds__(Threads) bounded(int* p) { p[threadIdx.x] = Threads; }
__global__ void __launch_bounds__(256, 4) twice_bounded(int* p) { p[threadIdx.x] = 4; }
__global__ void __launch_bounds__(1024, 1) large(int* p, int n) {
    int a[32];
#pragma unroll
    for (int i = 0; i < 32; i++) a[i] = p[i * n + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 32; i++) p[i * 1024 + threadIdx.x] = a[31 - i] * a[i];
}
__global__ void __maxnreg__(40) few_registers(float* p, int n) {
    float a[48];
#pragma unroll
    for (int i = 0; i < 48; i++) a[i] = p[i * n];
#pragma unroll
    for (int i = 0; i < 48; i++) p[i] = a[i] * a[47 - i] + a[(i * 7) % 48];
}
extern "C" __global__ void named_in_c(const int* __restrict__ in, int* __restrict__ out) { out[blockIdx.y] = in[blockIdx.z]; }
__global__ void no_parameters() {}
__global__ void many_parameters(char a, short b, int c, long long d, float e, double f, bool g, char3 h, short4 i, double4 j, void* k,
                                void (*l)(int), unsigned char m, longlong2 n, int* o) {
    if (g) *o = a + b + c + int(d) + int(e) + int(f) + h.y + i.w + int(j.z) + m + int(n.y) + (k != nullptr);
    if (l) l(c);
}
struct Empty {};
struct Nested { struct { int a; struct { char b; double c; } d[2]; } e; int f : 3; };
__global__ void structures(Empty, Nested n, const __grid_constant__ Nested m, int i, double* out) {
    const Nested* p = &m;
    out[0] = n.e.d[i].c + p->e.d[i].b + n.f;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
__global__ void __launch_bounds__(128, 2, 4) at_most_clusters(int* p) { p[threadIdx.x] = 1; }
__global__ void __cluster_dims__(2, 2, 1) __launch_bounds__(64) in_clusters(int* p) { p[blockIdx.x] = __clusterRelativeBlockRank(); }
__global__ void __cluster_dims__() any_cluster(int* p) { p[0] = 1; }
__global__ void __block_size__((32, 2, 1), (2, 1, 1)) sized(int* p) {
    p[threadIdx.y] = __clusterGridDimInClusters().x + __clusterDim().y + __clusterSizeInBlocks();
    __cluster_barrier_arrive_relaxed();
    __cluster_barrier_wait();
    int* q = static_cast<int*>(__cluster_map_shared_rank(p, 1));
    p[2] = __cluster_query_shared_rank(q) + __isClusterShared(q);
}
#endif

template __global__ void bounded<32>(int*);
template __global__ void bounded<96>(int*);
