// Functions of single precision, and intrinsics with a rounding or an approximation.

__global__ void elementary(float* p) {
    float x = p[0], y = p[1], z = p[2];
    p[10] = sinf(x) + cosf(y) + tanf(z) + asinf(x) + acosf(y) + atanf(z) + atan2f(x, y);
    p[11] = sinhf(x) + coshf(y) + tanhf(z) + asinhf(x) + acoshf(y) + atanhf(z);
    p[12] = expf(x) + exp2f(y) + exp10f(z) + expm1f(x) + logf(x) + log2f(y) + log10f(z) + log1pf(x);
    p[13] = powf(x, y) + sqrtf(z) + cbrtf(x) + rsqrtf(y) + rcbrtf(z) + hypotf(x, y) + powf(x, 3);
    p[14] = erff(x) + erfcf(y) + erfinvf(z) + normcdff(z) + tgammaf(x) + lgammaf(y) + j0f(z) + y1f(x) + jnf(4, y);
    float s, c;
    sincosf(x, &s, &c);
    p[15] = s + c + sinpif(y) + cospif(z) + norm3df(x, y, z) + rnorm4df(x, y, z, s);
}

__global__ void intrinsics(float* p, int* out, long long* wide) {
    float x = p[0], y = p[1], z = p[2], s, c;
    p[10] = __sinf(x) + __cosf(y) + __tanf(z) + __expf(x) + __exp10f(y) + __logf(z) + __log2f(x) + __log10f(y) + __powf(x, z) + __fdividef(x, y);
    __sincosf(x, &s, &c);
    p[11] = s * c + __saturatef(x) + __frsqrt_rn(y) + __frcp_ru(z) + __fsqrt_rd(x) + __fdiv_rz(x, y) + __fdiv_rn(y, z);
    p[12] = __fadd_rn(x, y) + __fadd_rz(x, z) + __fsub_ru(y, z) + __fmul_rd(x, z) + __fmaf_rn(x, y, z) + __fmaf_ru(x, z, y) + __fmaf_ieee_rn(x, y, z);
    out[0] = __float2int_rn(x) + __float2int_ru(y) + __float2uint_rz(z) + __float_as_int(x) + __float_as_uint(y) + int(z);
    wide[0] = __float2ll_rn(x) + __float2ull_rd(y) + (long long)z;
    p[13] = __int2float_rz(out[1]) + __uint2float_ru(out[2]) + __ll2float_rn(wide[1]) + __ull2float_rd(wide[2]) + __int_as_float(out[3]);
    p[14] = floorf(x) + ceilf(y) + truncf(z) + rintf(x) + roundf(y) + nearbyintf(z) + fabsf(x);
    p[15] = fmodf(x, y) + remainderf(y, z) + fdimf(x, y) + fmaxf(y, z) + fminf(x, z) + copysignf(x, y) + nextafterf(y, z) + ldexpf(x, out[4]);
    out[5] = isnan(x) + isinf(y) + signbit(z) + ilogbf(x) + (x < y) + (y != z) + !(x >= z) + lrintf(x);
    int e;
    p[16] = frexpf(x, &e) + scalbnf(y, e) + x / y + 1.f / z + (double)x * y;
    p[17] = fmaxf(fmaxf(x, y), z) + fminf(fminf(x, y), z) + fmaxf(fabsf(x), fabsf(y));
    unsigned char b = (unsigned char)x;
    short h = (short)y;
    p[18] = b + h + (signed char)z + (unsigned short)x + (x > 0 ? 1.f : -1.f);
}

