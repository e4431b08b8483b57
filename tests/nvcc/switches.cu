// Control flow: switch tables, loops with several ends, goto, irreducible graphs, early returns, unreachable code.

__device__ int dense(int x, int y) {
    switch (x) {
    case 0: return y + 1;
    case 1: return y * 7;
    case 2: return y / 3;
    case 3: return y ^ 0x55;
    case 4: return y << 3;
    case 5: return __popc(y);
    case 6: return __clz(y);
    case 7: return -y;
    case 8: return y % 11;
    case 9: return y & 0xff00;
    case 10: return ~y;
    case 11: return y > 4 ? 3 : 9;
    case 12: return y * y * y;
    case 13: return y - 1000000;
    case 14: return __brev(y);
    case 15: return __float_as_int(__int2float_rn(y));
    default: return 0;
    }
}

__device__ __noinline__ int machine(const unsigned char* program, int* memory) {
    int pc = 0, acc = 0;
    while (true) {
        switch (program[pc++]) {
        case 0: return acc;
        case 1: acc += memory[program[pc++]]; break;
        case 2: acc -= memory[program[pc++]]; break;
        case 3: memory[program[pc++]] = acc; break;
        case 4: if (acc > 0) pc = program[pc]; else pc++; break;
        case 5: acc *= 3; break;
        case 6: acc = dense(acc, pc); break;
        case 7: __syncwarp(); break;
        case 8: acc = __shfl_xor_sync(~0u, acc, 1); break;
        case 9: acc = atomicAdd(memory, acc); break;
        case 12: acc = clock(); [[fallthrough]];
        case 13: acc++; break;
        default: __trap();
        }
    }
}

__global__ void tables(const int* x, int* out, const unsigned char* program) {
    int i = threadIdx.x;
    out[i] = dense(x[i], i);
    out[i + 32] = machine(program, out + 64);
}

__global__ void sparse(const long long* x, int* out) {
    switch (x[threadIdx.x]) {
    case -5: out[0] = 1; break;
    case 1000: out[1] = 2; break;
    case 1LL << 40: out[2] = 3; break;
    case 77777777777LL: out[3] = 4; return;
    case 3: case 4: case 5: case 6: out[4] = 5; break;
    }
    __syncthreads();
    out[threadIdx.x + 5] = 6;
}

__global__ void jumps(int* data, int n) {
    int i = 0, state = data[threadIdx.x];
    if (state & 1) goto middle;
top:
    data[i] += state;
    if (++i >= n) goto end;
middle:
    data[i] -= i;
    state = state * 5 + 1;
    if (state % 7 == 3) goto top;
    if (state % 7 == 4) goto end;
    i += 2;
    if (i < n) goto middle;
end:
    do {
        if (data[i] == 5) break;
        if (data[i] == 6) continue;
        data[i]--;
#pragma unroll 3
        for (int k = 0; k < 7; k++) if (data[k] < 0) return;
    } while (i-- > 0);
}

__global__ void hints(int* data, int n) {
    if (__builtin_expect(n > 5, 1)) data[0] = 1;
    __builtin_assume(n < 100);
#pragma unroll 1
    for (int i = 0; i < n; i++) data[i] = i;
    if (n == 3) __builtin_unreachable();
    bool a = data[1] > 2, b = data[2] > 3;
    if ((a && b) || (!a && data[3])) data[4] = a ^ b;
    data[5] = a ? b ? 1 : 2 : b ? 3 : 4;
}
