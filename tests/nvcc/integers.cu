// Integers of all widths: arithmetic, bits, funnel shifts, wide products, 128 bits, divisions.

#include <cstdint>

template <typename T> __device__ T mixed(T a, T b, int s) {
    T r = a + b * 3 - a / (b | 1) + a % (b | 3);
    r ^= (a << (s & 7)) | (b >> (s & 7));
    r += a > b ? a : b;
    r -= a == b ? ~a : -b;
    r &= a | (b ^ T(0x5a));
    return r / T(7) + r % T(10) + (r >= T(9)) + !r;
}

__global__ void widths(int8_t* a, uint8_t* b, int16_t* c, uint16_t* d, int32_t* e, uint32_t* f, int64_t* g, uint64_t* h, __int128* i, unsigned __int128* j) {
    int t = threadIdx.x;
    a[t] = mixed(a[t], a[t + 1], t);
    b[t] = mixed(b[t], b[t + 1], t);
    c[t] = mixed(c[t], c[t + 1], t);
    d[t] = mixed(d[t], d[t + 1], t);
    e[t] = mixed(e[t], e[t + 1], t);
    f[t] = mixed(f[t], f[t + 1], t);
    g[t] = mixed(g[t], g[t + 1], t);
    h[t] = mixed(h[t], h[t + 1], t);
    i[t] = i[t] * i[t + 1] + (i[t] << t) - (i[t + 2] >> 3);
    j[t] = j[t] * j[t + 1] + (j[t] >> t) + (j[t] > j[t + 1]);
    i[t] += __int128(g[t]) * g[t + 1];
}

__global__ void bits(unsigned* u, unsigned long long* w, int* s, long long* l) {
    unsigned a = u[0], b = u[1], c = u[2];
    u[10] = __popc(a) + __clz(b) + __ffs(c) + __brev(a) + __byte_perm(a, b, c) + __byte_perm(a, b, 0x6543);
    w[10] = __popcll(w[0]) + __clzll(w[1]) + __ffsll(w[2]) + __brevll(w[3]);
    u[11] = __funnelshift_l(a, b, c) + __funnelshift_r(a, b, c) + __funnelshift_lc(a, b, c) + __funnelshift_rc(a, b, 5);
    s[0] = __mulhi(s[1], s[2]) + __mul24(s[3], s[4]) + __sad(s[5], s[6], a) + __hadd(s[7], s[8]) + __rhadd(s[1], s[3]) + abs(s[4]) + min(s[1], s[2]) + max(s[3], 4);
    u[12] = __umulhi(a, b) + __umul24(b, c) + __usad(a, b, c) + __uhadd(a, c) + __urhadd(b, c) + umin(a, b) + umax(b, c);
    l[0] = __mul64hi(l[1], l[2]) + llabs(l[3]) + min(l[1], l[4]) + max(l[2], 5ll);
    w[11] = __umul64hi(w[1], w[2]) + (unsigned long long)a * b + c;
    l[5] = (long long)s[1] * s[2] + l[6];
    u[13] = (a & b) ^ (c | ~a);
    u[14] = (a & 0xff00) >> 8 | (b & 0xff) << 8 | (c >> 16 & 0xff) << 16;
    s[9] = (s[10] << 7) >> 20;
    u[15] = a / 10 + b % 1000 + c / 7;
    s[11] = s[12] / -3 + s[13] % 13 + s[14] / 16;
    w[12] = w[13] / 1000000007ull + w[14] % 3 + (w[15] << (a & 63)) + (w[16] >> (b & 63));
    asm("bfe.u32 %0, %1, 3, 9;" : "=r"(u[16]) : "r"(a));
    asm("bfi.b64 %0, %1, %2, %3, %4;" : "=l"(w[17]) : "l"(w[0]), "l"(w[1]), "r"(a), "r"(b));
    asm("bfind.shiftamt.s64 %0, %1;" : "=r"(u[17]) : "l"(l[1]));
    asm("{add.cc.u32 %0, %2, %3; addc.cc.u32 %1, %3, %4; madc.hi.u32 %0, %2, %3, %1;}" : "=&r"(u[18]), "=&r"(u[19]) : "r"(a), "r"(b), "r"(c));
    asm("vadd.s32.u32.s32.sat %0, %1.b0, %2.h1;" : "=r"(s[15]) : "r"(a), "r"(s[1]));
    asm("vset.u32.s32.lt.add %0, %1.b3, %2, %3;" : "=r"(s[16]) : "r"(a), "r"(s[1]), "r"(b));
}
