use ptx_dsl::ptx;

mod parts {
    use ptx_dsl::ptx;

    ptx! {
        <sm_90, ptx 8.0>
        pub(crate) part right {
            .inline wait(.shared .b64 bar, .b32 parity) {
                .reg .pred %done;
              again:
                mbarrier.try_wait.parity.shared::cta.b64 %done, [bar], parity;
                @!%done bra again;
            }
            .inline halve(.reg .b32 %x, const N: u32) {
                shr.u32 %x, %x, N;
                lop3.b32 %x, %x, %x, %x, N;
            }
            .inline bigger(.b64 x, label done) {
                .reg .pred %p;
                setp.gt.u64 %p, x, 5;
                @%p bra done;
            }
        }
    }

    // Each error is reported here, and not where the part is used.
    ptx! {
        <sm_90, ptx 8.0>
        pub(crate) part wrong {
            .inline free(.reg .b32 %x) { add.u32 %x, %x, %outside; }
            .inline short(.reg .b32 %x) { add.u32 %x, %x; }
            .inline types(.b32 x) { .reg .b64 %y; mov.b64 %y, x; }
            .inline nothing { }
            .inline parameter(x) { }
            .layout names(a) { .shared .b32 a, b; }
            .func f(.reg .b32 %x) { mov.u64 %x, 1; ret; }
        }
    }
}

ptx! {
    <sm_90, ptx 8.0>
    use parts::{right, wrong};
    .visible .entry k() {
        .reg .b32 %r;
        .reg .f32 %f;
        .reg .pred %p;
        .shared .align 8 .b64 bar;
        .shared .align 4 .b32 word;
        wrong::short!(%r);
        right::wait!(bar);
        right::wait!(bar, %f);
        right::wait!(bar, %none);
        right::wait!(word, 0);
        right::wait!(bar, 1.5);
        right::wait!(%f, 0);
        right::halve!(%r, 4294967296);
        right::halve!(%r, %r);
        right::halve!(%r, 256);
        right::bigger!(1, done);
        right::bigger!(%r, end);
        right::wiat!(bar, 0);
        wait!(bar, 0);
        right::wait(bar, 0);
        @%p right::halve!(%r, 1);
        @!%p right::halve(%r, 1);
      end:
        ret;
    }
}

fn main() {}
