use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k(.param .u64 p) {
        .reg .pred %p;
        .reg .b32 %r<4>;
        .reg .b64 %rd;
        .reg .f32 %f<4>;
        __syncthreads();
        if (%p) exit;
        int x;
        %r1 = %r2 + %r3;
        atomicAdd(%rd, %r1);
        mov.u32 %r1, threadIdx.x;
        mov.u32 %r1, 'a';
        mul.u32 %r1, %r2, %r3;
        ld.global.float4 {%f0, %f1, %f2, %f3}, [%rd];
        ld.global.u32 %r1, *%rd;
        return;
    }
}

fn main() {}
