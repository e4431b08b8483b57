// Functions of double precision, and intrinsics with a rounding.

__global__ void elementary(double* p) {
    double x = p[0], y = p[1], z = p[2];
    p[10] = sin(x) + cos(y) + tan(z);
    p[11] = asin(x) + acos(y) + atan(z) + atan2(x, y);
    p[12] = sinh(x) + cosh(y) + tanh(z) + asinh(x) + acosh(y) + atanh(z);
    p[13] = exp(x) + exp2(y) + exp10(z) + expm1(x);
    p[14] = log(x) + log2(y) + log10(z) + log1p(x) + logb(y);
    p[15] = pow(x, y) + sqrt(z) + cbrt(x) + rsqrt(y) + rcbrt(z) + hypot(x, y) + rhypot(y, z);
    p[16] = erf(x) + erfc(y) + erfinv(z) + erfcinv(x) + erfcx(y) + normcdf(z) + normcdfinv(x);
    p[17] = tgamma(x) + lgamma(y) + j0(z) + j1(x) + jn(3, y) + y0(z) + y1(x) + yn(2, y) + cyl_bessel_i0(z) + cyl_bessel_i1(x);
}

__global__ void others(double* p, int* out, long long* wide) {
    double x = p[0], y = p[1], z = p[2], s, c, whole;
    int e, q;
    p[10] = floor(x) + ceil(y) + trunc(z) + rint(x) + nearbyint(y) + round(z);
    p[11] = fmod(x, y) + remainder(y, z) + remquo(x, z, &q) + fdim(x, y) + fmax(y, z) + fmin(x, z) + fma(x, y, z);
    p[12] = frexp(x, &e) + ldexp(y, e) + scalbn(z, q) + scalbln(x, 5L) + modf(y, &whole) + whole + copysign(x, y) + nextafter(y, z);
    sincos(x, &s, &c);
    p[13] = s + c;
    sincospi(y, &s, &c);
    p[14] = s * c + sinpi(x) + cospi(y) + norm3d(x, y, z) + norm4d(x, y, z, s) + rnorm3d(x, y, z) + fabs(x);
    out[0] = isnan(x) + isinf(y) + isfinite(z) + signbit(x) + ilogb(y) + e + q;
    wide[0] = llrint(x) + llround(y) + lrint(z) + lround(x);
    p[15] = x / y + 1.0 / z;
    p[16] = __dadd_rn(x, y) + __dsub_rz(y, z) + __dmul_ru(x, z) + __fma_rd(x, y, z) + __ddiv_rn(x, y) + __ddiv_ru(x, z) + __drcp_rz(x) + __dsqrt_rd(y);
    p[17] = __int2double_rn(out[1]) + __uint2double_rn(out[2]) + __ll2double_rz(wide[1]) + __ull2double_ru(wide[2]);
    out[3] = __double2int_rz(x) + __double2uint_ru(y) + __double2hiint(z) + __double2loint(x) + __float2int_rn(__double2float_rd(y));
    wide[3] = __double2ll_rn(x) + __double2ull_rd(y) + __double_as_longlong(z);
    p[18] = __hiloint2double(out[4], out[5]) + __longlong_as_double(wide[4]);
    p[19] = x > y ? x : x < z ? y : x != x ? 0 : z;
}

__global__ void integrate(double* out, int n) {
    double sum = 0, h = 1. / n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        double x = h * (i + .5);
        sum += 4. / (1. + x * x);
    }
    for (int k = 16; k; k >>= 1) sum += __shfl_down_sync(~0u, sum, k);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum * h);
}
