use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    #[allow(non_camel_case_types)]
    .visible .entry allowed(.param .u32 n) { ret; }
    /// A comment.
    #[cfg(test)]
    pub(crate) .visible .entry configured() {
        #[inline]
        .reg .b32 %r;
        /// Another comment.
        #[cfg(any())]
        mov.u64 %r, 1;
        ret;
    }
}

// What stands before a part is for its name.
ptx! {
    <sm_90, ptx 8.0>
    /// A comment.
    #[allow(unused)]
    #[rustfmt::skip]
    pub(in crate) part right {
        /// A comment.
        .inline f() { bar.sync 0; }
        #[allow(unused)]
        .inline g() { bar.sync 1; }
    }
}

// Not compiled.
#[cfg(any())]
ptx! {
    <sm_90, ptx 8.0>
    .visible .entry outside() { bogus; }
}

fn main() {}
