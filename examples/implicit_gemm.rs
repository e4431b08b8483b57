//! A convolution on Hopper as a matrix product (implicit GEMM): 3 x 3 filters, a border of zeros, NHWC, f16 with sums in f32.
//!
//! A row of the product is a pixel of the output, a column is a filter, and the terms are the 9 positions of the filter times the
//! channels. Nobody writes this matrix: an im2col tensor map gives 64 pixels in a row, over the ends of lines and images, at the offset
//! of a position in the filter, and zeros outside of the image.
//!
//! One warp loads with tensor copies into a ring of four stages, one warpgroup multiplies 64 x 64 x 64 elements of each with `wgmma`.
//! Each stage has two mbarriers: `full` counts the bytes that arrive, `empty` is for the warpgroup that has read the stage.

use half::f16;
use ptx_dsl::prelude::*;
use ptx_dsl::tensor_map::{ElementType, Swizzle, TensorMap};

ptx! {
    <sm_90a, ptx 8.3>

    // Four stages: 64 pixels, then 64 filters, of 64 channels, in the 128-byte swizzle. After them the mbarriers: full, empty.
    .extern .shared .align 1024 .b8 stages[];

    .visible .entry convolution(
        .param .align 64 .b8 image[128]: &TensorMap,
        .param .align 64 .b8 filters[128]: &TensorMap,
        .param .u64 .ptr .global .align 16 out: &mut [f32],
        .param .u32 pixels,
        .param .u32 height,
        .param .u32 width,
        .param .u32 channels,
        .param .u32 count)
    .reqntid 160
    {
        .reg .pred %p, %more, %low;
        .reg .b16 %dx, %dy;
        .reg .b32 %t, %base, %bars, %pixel, %filter, %steps, %at, %stage, %parity, %full, %empty, %to, %x;
        .reg .b32 %image, %line, %column, %width, %height, %channel, %channels, %count, %pixels;
        .reg .b64 %a, %b, %o, %below, %pitch, %da, %db;
        .reg .f32 %d<32>;

        mov.u32 %t, %tid.x;
        mov.u32 %base, stages;
        add.u32 %bars, %base, 65536;
        mov.u32 %pixel, %ctaid.x;
        shl.b32 %pixel, %pixel, 6;
        mov.u32 %filter, %ctaid.y;
        shl.b32 %filter, %filter, 6;
        ld.param.u32 %channels, [channels];
        mul.lo.u32 %steps, %channels, 9;
        setp.ne.u32 %p, %t, 0;
        @%p bra ready;
        mbarrier.init.shared::cta.b64 [%bars], 1;
        mbarrier.init.shared::cta.b64 [%bars+8], 1;
        mbarrier.init.shared::cta.b64 [%bars+16], 1;
        mbarrier.init.shared::cta.b64 [%bars+24], 1;
        mbarrier.init.shared::cta.b64 [%bars+32], 1;
        mbarrier.init.shared::cta.b64 [%bars+40], 1;
        mbarrier.init.shared::cta.b64 [%bars+48], 1;
        mbarrier.init.shared::cta.b64 [%bars+56], 1;
        fence.mbarrier_init.release.cluster;
    ready:
        bar.sync 0;
        mov.u32 %stage, 0;
        mov.u32 %at, 0;
        setp.lt.u32 %p, %t, 128;
        @%p bra multiply;

        // the thread that loads; a wait for the phase before the first one does not block
        setp.ne.u32 %p, %t, 128;
        @%p bra done;
        mov.b64 %a, image;
        cvta.param.u64 %a, %a;
        mov.b64 %b, filters;
        cvta.param.u64 %b, %b;
        // the first pixel: the bounding box of the map begins at -1 in both directions
        ld.param.u32 %width, [width];
        ld.param.u32 %height, [height];
        div.u32 %line, %pixel, %width;
        rem.u32 %column, %pixel, %width;
        div.u32 %image, %line, %height;
        rem.u32 %line, %line, %height;
        sub.u32 %line, %line, 1;
        sub.u32 %column, %column, 1;
        mov.u16 %dx, 0;
        mov.u16 %dy, 0;
        mov.u32 %channel, 0;
        mov.u32 %parity, 1;
    load:
        mad.lo.u32 %full, %stage, 8, %bars;
        add.u32 %empty, %full, 32;
    unread:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [%empty], %parity;
        @!%p bra unread;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%full], 16384;
        mad.lo.u32 %to, %stage, 16384, %base;
        cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
            [%to], [%a, {%channel, %column, %line, %image}], [%full], {%dx, %dy};
        add.u32 %to, %to, 8192;
        cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
            [%to], [%b, {%at, %filter}], [%full];
        // the next channels, or the next position in the filter
        add.u32 %channel, %channel, 64;
        setp.eq.u32 %p, %channel, %channels;
        @%p mov.u32 %channel, 0;
        @%p add.u16 %dx, %dx, 1;
        setp.eq.u16 %p, %dx, 3;
        @%p mov.u16 %dx, 0;
        @%p add.u16 %dy, %dy, 1;
        add.u32 %stage, %stage, 1;
        and.b32 %stage, %stage, 3;
        setp.eq.u32 %p, %stage, 0;
        @%p xor.b32 %parity, %parity, 1;
        add.u32 %at, %at, 64;
        setp.lt.u32 %p, %at, %steps;
        @%p bra load;
        bra done;

    multiply:
        mov.u32 %parity, 0;
    next:
        mad.lo.u32 %full, %stage, 8, %bars;
        add.u32 %empty, %full, 32;
    unloaded:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [%full], %parity;
        @!%p bra unloaded;
        // descriptors: 128-byte swizzle (bit 62), 1024 bytes from eight rows to the next
        mad.lo.u32 %to, %stage, 16384, %base;
        add.u32 %x, %to, 8192;
        shr.u32 %to, %to, 4;
        cvt.u64.u32 %da, %to;
        or.b64 %da, %da, 0x4000004000010000;
        shr.u32 %x, %x, 4;
        cvt.u64.u32 %db, %x;
        or.b64 %db, %db, 0x4000004000010000;
        wgmma.fence.sync.aligned;
        mov.u32 %to, 0;
    sixteen:
        or.b32 %x, %at, %to;
        setp.ne.u32 %more, %x, 0;
        wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
            {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7, %d8, %d9, %d10, %d11, %d12, %d13, %d14, %d15,
                %d16, %d17, %d18, %d19, %d20, %d21, %d22, %d23, %d24, %d25, %d26, %d27, %d28, %d29, %d30, %d31}, %da, %db, %more, 1, 1, 0, 0;
        add.u64 %da, %da, 2;
        add.u64 %db, %db, 2;
        add.u32 %to, %to, 16;
        setp.lt.u32 %p, %to, 64;
        @%p bra sixteen;
        wgmma.commit_group.sync.aligned;
        wgmma.wait_group.sync.aligned 0;
        // one thread says that its warpgroup has read the stage
        setp.ne.u32 %p, %t, 0;
        @%p bra read;
        mbarrier.arrive.shared::cta.b64 _, [%empty];
    read:
        add.u32 %stage, %stage, 1;
        and.b32 %stage, %stage, 3;
        setp.eq.u32 %p, %stage, 0;
        @%p xor.b32 %parity, %parity, 1;
        add.u32 %at, %at, 64;
        setp.lt.u32 %p, %at, %steps;
        @%p bra next;

        // a thread has the pixels 16 warp + lane / 4 and 8 more, the filters 2 (lane mod 4) + 8 i and the next ones
        ld.param.u32 %count, [count];
        ld.param.u32 %pixels, [pixels];
        ld.param.u64 %o, [out];
        shr.u32 %to, %t, 5;
        mad.lo.u32 %pixel, %to, 16, %pixel;
        and.b32 %x, %t, 31;
        shr.u32 %to, %x, 2;
        add.u32 %pixel, %pixel, %to;
        and.b32 %x, %t, 3;
        mad.lo.u32 %filter, %x, 2, %filter;
        mad.lo.u32 %x, %pixel, %count, %filter;
        mad.wide.u32 %o, %x, 4, %o;
        mul.wide.u32 %pitch, %count, 32;
        add.u64 %below, %o, %pitch;
        // the last CTA may have less than 64 pixels
        setp.lt.u32 %p, %pixel, %pixels;
        add.u32 %pixel, %pixel, 8;
        setp.lt.u32 %low, %pixel, %pixels;
        @%p st.global.v2.f32 [%o], {%d0, %d1};
        @%low st.global.v2.f32 [%below], {%d2, %d3};
        @%p st.global.v2.f32 [%o+32], {%d4, %d5};
        @%low st.global.v2.f32 [%below+32], {%d6, %d7};
        @%p st.global.v2.f32 [%o+64], {%d8, %d9};
        @%low st.global.v2.f32 [%below+64], {%d10, %d11};
        @%p st.global.v2.f32 [%o+96], {%d12, %d13};
        @%low st.global.v2.f32 [%below+96], {%d14, %d15};
        @%p st.global.v2.f32 [%o+128], {%d16, %d17};
        @%low st.global.v2.f32 [%below+128], {%d18, %d19};
        @%p st.global.v2.f32 [%o+160], {%d20, %d21};
        @%low st.global.v2.f32 [%below+160], {%d22, %d23};
        @%p st.global.v2.f32 [%o+192], {%d24, %d25};
        @%low st.global.v2.f32 [%below+192], {%d26, %d27};
        @%p st.global.v2.f32 [%o+224], {%d28, %d29};
        @%low st.global.v2.f32 [%below+224], {%d30, %d31};
    done:
        ret;
    }
}

/// Bytes of shared memory: four stages and their mbarriers.
const SHARED: u32 = 4 * 16384 + 64;

/// Pseudo-random numbers from -1 to 1 (xorshift).
fn numbers(n: usize, mut seed: u64) -> Vec<f16> {
    let next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        f16::from_f64((seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0)
    };
    std::iter::repeat_with(next).take(n).collect()
}

/// Sizes of a convolution.
#[derive(Clone, Copy)]
struct Shape {
    images: usize,
    height: usize,
    width: usize,
    channels: usize,
    filters: usize,
}

impl Shape {
    fn pixels(&self) -> usize {
        self.images * self.height * self.width
    }
}

/// Images and filters, the convolution in f64, and for each element the sum of the magnitudes of its terms.
struct Problem {
    shape: Shape,
    image: Vec<f16>,
    filters: Vec<f16>,
    result: Vec<(f64, f64)>,
}

impl Problem {
    fn new(shape: Shape) -> Problem {
        let Shape { height, width, channels, filters: count, .. } = shape;
        let (image, filters) = (numbers(shape.pixels() * channels, 1), numbers(count * 9 * channels, 2));
        let wide = |v: &[f16]| v.iter().map(|v| v.to_f64()).collect::<Vec<_>>();
        let (x, f) = (wide(&image), wide(&filters));
        let element = |at: usize| {
            let (pixel, filter) = (at / count, at % count);
            let (line, column) = (pixel / width % height, pixel % width);
            let mut sum = (0.0, 0.0);
            for (dy, dx) in (0..9).map(|position| (position / 3, position % 3)) {
                // coordinates with the border are greater by one
                if !(1..=height).contains(&(line + dy)) || !(1..=width).contains(&(column + dx)) {
                    continue;
                }
                let near = pixel + dy * width + dx - width - 1;
                let f = &f[(filter * 9 + dy * 3 + dx) * channels..][..channels];
                let terms = x[near * channels..][..channels].iter().zip(f).map(|(x, f)| x * f);
                sum = terms.fold(sum, |(sum, size), term| (sum + term, size + term.abs()));
            }
            sum
        };
        let result = (0..shape.pixels() * count).map(element).collect();
        Problem { shape, image, filters, result }
    }

    /// Launches the kernel and compares: the error is at most 2^-16 of the magnitudes of the terms.
    fn run<M>(&self, host: &Host<M>) -> Result<(), Error> {
        let Shape { images, height, width, channels, filters: count } = self.shape;
        let pixels = self.shape.pixels();
        let image = TensorMap::im2col(&self.image[..], ElementType::F16)
            .dims([channels, width, height, images].map(|size| size as u64))
            .pixel_box_lower([-1, -1])
            .pixel_box_upper([-1, -1])
            .channels_per_pixel(64)
            .pixels_per_column(64)
            .swizzle(Swizzle::B128)
            .build()
            .expect("whole groups of channels");
        let filters = TensorMap::tiled(&self.filters[..], ElementType::F16)
            .dims([9 * channels as u64, count as u64])
            .box_dims([64, 64])
            .swizzle(Swizzle::B128)
            .build()
            .expect("whole boxes");
        let mut out = vec![f32::NAN; pixels * count];
        let launch = Launch::grid((pixels.div_ceil(64) as u32, count as u32 / 64)).dynamic_shared(SHARED);
        let [height, width, channels, size] = [height, width, channels, pixels].map(|size| size as u32);
        convolution.launch(host, launch, (&image, &filters, &mut out, size, height, width, channels, count as u32))?;
        for (at, (out, (sum, size))) in out.iter().zip(&self.result).enumerate() {
            let error = (f64::from(*out) - sum).abs();
            assert!(error <= size / 65536.0, "pixel {}, filter {}: {out} instead of {sum}", at / count, at % count);
        }
        Ok(())
    }
}

fn main() -> Result<(), Error> {
    // 84 pixels: the second CTA has 20 of them
    let small = Problem::new(Shape { images: 2, height: 6, width: 7, channels: 64, filters: 64 });
    small.run(&Host::checked())?;
    Host::new().explore(32).run(|host| small.run(host))?;
    let large = Problem::new(Shape { images: 2, height: 15, width: 16, channels: 128, filters: 128 });
    let start = std::time::Instant::now();
    large.run(&Host::new())?;
    let took = start.elapsed().as_secs_f64() * 1e3;
    println!("2 images of 15 x 16 x 128 with 128 filters in {took:.0} ms, within 2^-16 of the magnitudes");
    Ok(())
}
