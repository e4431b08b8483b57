// Texture and surface objects of every shape.

__global__ void fetches(cudaTextureObject_t t, float* out, int* whole, float4* wide) {
    float x = threadIdx.x * .5f, y = x + 1, z = y * 2;
    int i = threadIdx.x;
    out[0] = tex1Dfetch<float>(t, i);
    whole[0] = tex1Dfetch<int>(t, i);
    out[1] = tex1D<float>(t, x) + tex1DLod<float>(t, x, 2.f) + tex1DGrad<float>(t, x, y, z) + tex1DLayered<float>(t, x, i);
    out[2] = tex2D<float>(t, x, y) + tex2DLod<float>(t, x, y, 1.5f) + tex2DGrad<float>(t, x, y, make_float2(x, 1), make_float2(2, y));
    out[3] = tex2DLayered<float>(t, x, y, i) + tex2DLayeredLod<float>(t, x, y, i, z);
    out[4] = tex3D<float>(t, x, y, z) + tex3DLod<float>(t, x, y, z, 0.f);
    out[5] = tex3DGrad<float>(t, x, y, z, make_float4(1, 2, 3, 0), make_float4(x, y, z, 0));
    out[6] = texCubemap<float>(t, x, y, z) + texCubemapLod<float>(t, x, y, z, 1.f) + texCubemapLayered<float>(t, x, y, z, i);
    wide[0] = tex2D<float4>(t, x, y);
    wide[1] = tex2Dgather<float4>(t, x, y, 2);
    wide[2] = texCubemapGrad<float4>(t, x, y, z, make_float4(1, 2, 3, 0), make_float4(x, y, z, 0));
    uint4 u = tex3D<uint4>(t, x, y, z);
    short2 s = tex2D<short2>(t, x, y);
    uchar4 c = tex2D<uchar4>(t, x, y);
    int4 g = tex2Dgather<int4>(t, x, y, 0);
    whole[1] = u.x + u.w + s.x + s.y + c.z + g.y;
    bool resident = false;
    wide[3] = tex2D<float4>(t, x, y, &resident);
    wide[4] = tex3DLod<float4>(t, x, y, z, 1.f, &resident);
    wide[5] = tex2Dgather<float4>(t, x, y, &resident, 1);
    whole[2] = resident;
}

__global__ void surfaces(cudaSurfaceObject_t s, float4* wide, int n) {
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    float4 v = surf2Dread<float4>(s, x * 16, y);
    surf2Dwrite(v, s, x * 16, y + 1, cudaBoundaryModeClamp);
    surf1Dwrite<int>(surf1Dread<int>(s, x * 4, cudaBoundaryModeZero) + n, s, x * 4);
    surf3Dwrite<float2>(surf3Dread<float2>(s, x * 8, y, z), s, x * 8, y, z, cudaBoundaryModeTrap);
    surf1DLayeredwrite<short>(surf1DLayeredread<short>(s, x * 2, y), s, x * 2, y);
    surf2DLayeredwrite<uchar4>(surf2DLayeredread<uchar4>(s, x * 4, y, z), s, x * 4, y, z);
    surfCubemapwrite<unsigned char>(surfCubemapread<unsigned char>(s, x, y, z % 6), s, x, y, z % 6);
    surfCubemapLayeredwrite<longlong2>(surfCubemapLayeredread<longlong2>(s, x * 16, y, z), s, x * 16, y, z);
    surf2Dwrite<uint2>(surf2Dread<uint2>(s, x * 8, y, cudaBoundaryModeClamp), s, x * 8, y, cudaBoundaryModeZero);
    wide[x] = v;
}

__global__ void assembly(unsigned long long t, int* out) {
    int w, h, d, f, b;
    asm("txq.width.b32 %0, [%1];" : "=r"(w) : "l"(t));
    asm("txq.height.b32 %0, [%1];" : "=r"(h) : "l"(t));
    asm("suq.depth.b32 %0, [%1];" : "=r"(d) : "l"(t));
    asm volatile("sust.b.2d.v2.b32.clamp [%0, {%1, %2}], {%3, %4};" :: "l"(t), "r"(w), "r"(h), "r"(d), "r"(w) : "memory");
    asm volatile("sured.b.add.2d.s32.trap [%0, {%1, %2}], %3;" :: "l"(t), "r"(w), "r"(h), "r"(d) : "memory");
    asm volatile("sust.p.1d.b32.zero [%0, {%1}], %2;" :: "l"(t), "r"(w), "r"(h) : "memory");
    asm("txq.num_mipmap_levels.b32 %0, [%1];" : "=r"(f) : "l"(t));
    asm("{.reg .pred p; istypep.texref p, %1; selp.b32 %0, 1, 0, p;}" : "=r"(b) : "l"(t));
    out[0] = w + h + d + f + b;
}
