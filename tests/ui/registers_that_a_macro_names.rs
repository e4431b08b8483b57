use ptx_dsl::ptx;

macro_rules! kernel {
    ($name:ident, $r:ident, $n:literal, $op:ident) => {
        ptx! {
            <sm_90, ptx 8.0>
            .visible .entry $name() {
                .reg .b32 %$r, %other;
                mov.u32 %$r, $n;
                add.u64 %other, %$r, $n % 4;
                $op.u32 %$r, %$r, 1;
                add.u32 %other, %other, %rest;
                ret;
            }
        }
    };
}

kernel!(wrong, r, 1, bogus);

macro_rules! body {
    ($($t:tt)*) => { ptx! { <sm_90, ptx 8.0> .visible .entry whole() { $($t)* ret; } } };
}

body!(.reg .b32 %a; mov.u32 %a, 1; mov.u64 %a, 1; nope %b;);

fn main() {}
