// Separate compilation (-rdc=true): functions and variables of other files, weak and visible definitions.
// nvcc: -rdc=true

extern __device__ int elsewhere(int, float);
extern "C" __device__ double named(double*, int);
extern __device__ int far_variable;
extern __constant__ float far_table[16];
extern __device__ int unbounded[];
extern __shared__ int dynamic[];

__device__ int here = 5;
static __device__ int only_here = 6;
__device__ __constant__ int both[2] = {1, 2};
__device__ int exported(int x) { return x + only_here; }
static __device__ __noinline__ int internal(int x) { return x * here; }
__device__ __noinline__ __attribute__((weak)) int overridable(int x) { return x ^ 3; }
template <typename T> __device__ __noinline__ T shared_by_files(T x) { return x + T(1); }
inline __device__ __noinline__ int inlined(int x) { static __device__ int count = 0; return count += x; }

__global__ void linked(int* out, double* real) {
    out[0] = elsewhere(out[1], 2.f) + far_variable + unbounded[3] + exported(4) + internal(out[5]) + overridable(out[6]);
    real[0] = named(real + 1, out[7]) + far_table[out[8] & 15] + shared_by_files(real[2]) + shared_by_files(out[9]);
    dynamic[threadIdx.x] = both[threadIdx.x & 1] + inlined(out[10]);
    __syncthreads();
    out[11] = dynamic[31 - threadIdx.x];
}

__global__ void child(int* data, int depth);
__global__ void parent(int* data, int depth) {
    if (depth > 0 && threadIdx.x == 0) {
        child<<<dim3(2, depth), 64, 128>>>(data, depth - 1);
        parent<<<1, 32, 0, cudaStreamFireAndForget>>>(data, depth - 1);
    }
    if (cudaGetLastError() != cudaSuccess) data[0] = -1;
}
__global__ void child(int* data, int depth) { atomicAdd(data + depth, 1); }
