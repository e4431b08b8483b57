use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    const STAGES: u32 = 3;
    .visible .entry k() {
        .reg .b32 %r<8>;
        @for I in 0..STAGES {
            mov.u32 %r{I}, %undeclared;
            add.u32 %q{I}, %r1, %r{I};
            @for J in 0..2 {
                @if I == 1 && J == 1 { mov.u64 %r{I}, 4; }
            }
        }
        ret;
    }
}

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry l() {
        .reg .b32 %r<8>;
        @if X { mov.u32 %r1, 4; } else { }
        @for I in 0..10000000 { mov.u32 %r1, I; }
        @for I in 0..2 mov.u32 %r1, I;
        ret;
    }
}

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry forms() {
        .reg .b32 %r<8>;
        @for 0..4 { mov.u32 %r1, 4; }
        @if { mov.u32 %r1, 4; }
        @if 1 { mov.u32 %r1, 4; } @else { mov.u32 %r1, 5; }
        ret;
    }
}

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry c() {
        .reg .b32 %r<8>;
        for (int i = 0; i < 4; i++) { mov.u32 %r1, 4; }
        if (4 == 0) { mov.u32 %r1, 4; }
        @if %r1 == 0 { mov.u32 %r1, 4; }
        @for I in (0..4).map(f) { mov.u32 %r1, I; }
        @for I in (0..4).step_by(0) { mov.u32 %r1, I; }
        const ROWS: [u32; 3] = [0, 8];
        const COLUMNS: [f32; 1] = [1.0];
        @peel FIRST { mov.u32 %r1, 1; }
        ret;
    }
}

fn main() {}
