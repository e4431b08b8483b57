// cuda::barrier, cuda::pipeline, latches, semaphores, memcpy_async.

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>

namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void arrive_and_wait(int* data) {
    __shared__ barrier bar;
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    for (int i = 0; i < 4; i++) {
        auto token = bar.arrive();
        data[threadIdx.x] += i;
        bar.wait(std::move(token));
    }
    bar.arrive_and_wait();
    if (threadIdx.x == 31) bar.arrive_and_drop();
}

__global__ void tokens(int* data, unsigned* out) {
    __shared__ barrier full[2], empty[2];
    if (threadIdx.x < 2) {
        init(full + threadIdx.x, blockDim.x);
        init(empty + threadIdx.x, blockDim.x);
    }
    __syncthreads();
    for (int i = 0; i < 8; i++) {
        int s = i & 1;
        if (threadIdx.x < 32) {
            empty[s].wait(empty[s].arrive());
            data[threadIdx.x] = i;
            (void)full[s].arrive();
        } else {
            full[s].arrive_and_wait();
            out[threadIdx.x] += data[threadIdx.x - 32];
            (void)empty[s].arrive(1);
        }
    }
    bool done = full[0].try_wait_for(full[0].arrive(), cuda::std::chrono::nanoseconds(500));
    done |= full[1].try_wait_parity_for(1, cuda::std::chrono::nanoseconds(20));
    out[0] = done + barrier::max();
}

__global__ void copy_async(const int4* in, int4* out) {
    __shared__ alignas(16) int4 box[128];
    __shared__ barrier bar;
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&bar, block.size());
    block.sync();
    cuda::memcpy_async(block, box, in, cuda::aligned_size_t<16>(sizeof(box)), bar);
    bar.arrive_and_wait();
    cuda::memcpy_async(box + threadIdx.x, in + threadIdx.x, sizeof(int4), bar);
    bar.arrive_and_wait();
    out[threadIdx.x] = box[127 - threadIdx.x];
}

__global__ void pipelined(const float* in, float* out, int n) {
    constexpr int stages = 3;
    __shared__ float box[stages][256];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    float sum = 0;
    for (int done = 0, asked = 0; done < n; done++) {
        for (; asked < n && asked < done + stages; asked++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, box[asked % stages], in + asked * 256, sizeof(float) * 256, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += box[done % stages][threadIdx.x];
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}

__global__ void by_role(const float* in, float* out, int n) {
    __shared__ float box[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto role = block.thread_rank() < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    for (int i = 0; i < n; i++) {
        if (role == cuda::pipeline_role::producer) {
            pipe.producer_acquire();
            cuda::memcpy_async(&box[i % 2][threadIdx.x], in + i * 32 + threadIdx.x, 4, pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            out[threadIdx.x] += box[i % 2][threadIdx.x % 64];
            pipe.consumer_release();
        }
    }
}

__global__ void others(cuda::latch<cuda::thread_scope_device>* latch, cuda::counting_semaphore<cuda::thread_scope_device, 4>* s,
                       cuda::barrier<cuda::thread_scope_system>* wide) {
    latch->count_down();
    latch->wait();
    s->acquire();
    s->release();
    if (s->try_acquire_for(cuda::std::chrono::microseconds(3))) s->release();
    wide->arrive_and_wait();
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
__global__ void transactions(const int* in, int* out) {
    __shared__ alignas(128) int box[512];
    __shared__ barrier bar;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        cuda::device::experimental::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::memcpy_async_tx(box, in, cuda::aligned_size_t<16>(sizeof(box)), bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(box));
        cuda::device::barrier_expect_tx(bar, 0);
    } else {
        token = bar.arrive();
    }
    bar.wait(std::move(token));
    out[threadIdx.x] = box[threadIdx.x];
}
#endif
