// What printf writes and returns. tests/host/nvcc/printf.txt is what an H200 wrote for `formats`.

#include <cassert>
#include <cstdio>

#define PRINT(...) *out++ = printf(__VA_ARGS__)

extern "C" __global__ void formats(int* out, const char* null, double nan, double inf) {
    int i = -42;
    unsigned u = 3000000000u;
    long long l = -5000000000ll;
    unsigned long long ul = 18446744073709551615ull;
    double d = 3.141592653589793, big = 1.5e300, tiny = 4.9e-324;
    char text[8] = {'l', 'o', 'c', 'a', 'l', 0};
    PRINT("plain\n");
    PRINT("%d %i %u %x %X %o\n", i, i, u, u, u, u);
    PRINT("%ld %lld %lu %llu %lx %llX %lo\n", l, l, ul, ul, ul, ul, ul);
    PRINT("%hd %hu %hhd %hhu %hx %hhX\n", 70000, 70000, 300, 300, 0x12345, 0x1ff);
    PRINT("[%5d] [%-5d] [%05d] [%+d] [% d] [%+5d] [%-+5d] [% 05d]\n", 42, 42, 42, 42, 42, 42, 42, 42);
    PRINT("[%.3d] [%8.3d] [%-8.3d] [%08.3d] [%.0d] [%.d] [%+.3d]\n", 7, 7, 7, 7, 0, 0, 7);
    PRINT("[%#x] [%#X] [%#o] [%#x] [%#o] [%#08x] [%#8x] [%-#8x] [%#.5x] [%#.0o]\n", 255, 255, 8, 0, 0, 255, 255, 255, 255, 0);
    PRINT("[%*d] [%-*d] [%*d] [%.*d] [%.*d] [%*.*d]\n", 6, 42, 6, 42, -6, 42, 4, 42, -4, 42, 6, 3, 42);
    PRINT("[%c] [%3c] [%-3c] [%c%c]\n", 'x', 'y', 'z', 65, 66);
    PRINT("[%s] [%s] [%8s] [%-8s] [%.2s] [%8.3s] [%.0s] [%.*s]\n", "global", text, text, text, text, text, text, 4, text);
    PRINT("[%s] [%10s] [%.3s]\n", null, null, null);
    PRINT("[%p] [%p] [%20p] [%-20p]\n", (void*)0x123456789abcull, null, (void*)0x10, (void*)0x10);
    PRINT("[%f] [%F] [%e] [%E] [%g] [%G]\n", d, d, d, d, d, d);
    PRINT("[%.0f] [%.1f] [%.10f] [%#.0f] [%10.2f] [%-10.2f] [%010.2f] [%+.2f] [% .2f]\n", d, d, d, d, d, d, d, d, d);
    PRINT("[%.0f] [%.0f] [%.0f] [%.0f] [%.1f] [%.2f]\n", 0.5, 1.5, 2.5, -0.5, 0.25, 1.005);
    PRINT("[%.0e] [%.1e] [%.15e] [%#.0e] [%12.2e] [%e] [%e] [%e]\n", d, d, d, d, d, big, tiny, 0.0);
    PRINT("[%g] [%g] [%g] [%g] [%g] [%g] [%g] [%g]\n", 0.0001, 0.00001, 100000.0, 1000000.0, 123456789.0, 0.5, 0.0, -0.0);
    PRINT("[%.3g] [%.10g] [%#g] [%#.3g] [%.0g] [%G] [%g] [%g] [%10.3g]\n", d, d, d, 1.0, d, tiny, big, 1e15, d);
    PRINT("[%a] [%A] [%a] [%a] [%a] [%.2a] [%.0a] [%#.0a] [%20a] [%-20a] [%020a] [%+a]\n", d, d, 1.0, 0.0, tiny, d, d, d, d, d, d, d);
    PRINT("[%.1a] [%.1a] [%.0a] [%.0a] [%.20a]\n", 1.96875, 1.03125, 1.5, 2.5, d);
    PRINT("%f %F %e %G %a %10f %-10f| %010f %+f % f\n", inf, inf, -inf, inf, -inf, inf, inf, inf, inf, inf);
    PRINT("%f %F %e %G %a %10f %010f %+f\n", nan, nan, nan, nan, nan, nan, nan, nan);
    PRINT("%f %.3f %g\n", big, tiny, 123456.5);
    PRINT("100%% %5% [%-5%]\n");
    PRINT("%lf %Lf\n", d, d);
    PRINT("%zu %zd %jd %td\n", (size_t)5000000000ull, (size_t)5000000000ull, 5000000000ll, 5000000000ll);
    PRINT("%hf %lc [%ls]\n", d, 'q', "narrow");
    PRINT("%d %k %d\n", 1, 2, 3);
    PRINT("%d %", 1);
    PRINT("\n%5");
    PRINT("\n%d %d\n", i);
    PRINT("%d %n %d\n", 1, (int*)0, 2);
    PRINT("%1$d %'d %I\n", 1, 1234567, 2);
    PRINT("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d\n",
          1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34);
    PRINT("\x01\x7f\xe2\x82\xac %c\n", 0);
    PRINT(null);
    PRINT("");
}

extern "C" __global__ void threads(int* out, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    out[t] = t % 3 == 0 ? printf("thread %d of %d: %s %.2f\n", t, n, t % 2 ? "odd" : "even", t / 4.0f) : -7;
    printf("%c", 'a' + t % 26);
}

__device__ __noinline__ void checks(const int* p, int i) { assert(p[i] != 42 && "no 42"); }

extern "C" __global__ void asserts(const int* p) { checks(p, threadIdx.x); }
