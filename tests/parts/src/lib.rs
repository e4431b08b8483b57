//! Parts of modules that the tests use from another crate.

use ptx_dsl::ptx;

/// The first number of the table.
pub const FIRST: u32 = 2;

pub mod numbers {
    //! Parts in a module of their own.

    use ptx_dsl::ptx;

    ptx! {
        <sm_90, ptx 8.0>
        /// Prime numbers, and a function that counts them.
        pub part primes {
            const COUNT: u32 = 4;
            const FIRST: u32 = crate::FIRST;
            .const .align 4 .b32 table[COUNT] = {FIRST, 3, 5, 7};
            .func (.reg .b32 %n) primes_below(.reg .b32 %limit) {
                .reg .pred %p;
                .reg .b32 %prime;
                mov.u32 %n, 0;
                @for I in 0..COUNT {
                    ld.const.u32 %prime, [table + 4 * I];
                    setp.lt.u32 %p, %prime, %limit;
                    @%p add.u32 %n, %n, 1;
                }
                ret;
            }
        }
    }
}

ptx! {
    <sm_90, ptx 8.0>
    use crate::numbers::primes;
    /// Code that uses another part.
    pub part counts {
        .inline double_count(.reg .b32 %out, .b32 limit) {
            .reg .b32 %n;
            mov.u32 %n, limit;
            call (%n), primes_below, (%n);
            add.u32 %out, %n, %n;
        }
        .inline odd(.reg .b32 %x) {
            .reg .pred %p;
            .reg .b32 %bit;
            and.b32 %bit, %x, 1;
            setp.ne.u32 %p, %bit, 0;
            @%p bra done;
            add.u32 %x, %x, 1;
          done:
        }
        .inline sync(const N: u32) {
            bar.sync N; // there are 16 barriers
        }
        .inline twice(const N: u32) { sync!(N); sync!(2 * N); }
        // wrong for other types than those of 32 bits
        .inline store(.global .b8 to, .b32 value, const OFFSET: u32) {
            st.global.b32 [to + OFFSET], value;
        }
    }
}

ptx! {
    <sm_90, ptx 8.0>
    /// A tile with its layout.
    pub part tiles {
        layout Square = f32[32, 32] swizzle 128;
        .inline store_square(.shared .b8 tile, .b32 row, .b32 column, .b32 value) {
            .reg .b32 %value;
            mov.b32 %value, value;
            st.shared.b32 [tile + Square.at(row, column)], %value;
        }
    }
}
