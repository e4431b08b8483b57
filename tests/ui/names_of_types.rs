use ptx_dsl::ptx;

struct Other;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry misspelt(.param .align 64 .b8 m[128]: &TensorMpa) { ret; }
    .visible .entry written(.param .align 64 .b8 m[128]: &mut TensorMap) { ret; }
    .visible .entry known(.param .align 64 .b8 m[128]: &TensorMap) { ret; }
    .visible .entry other(.param .align 64 .b8 m[128]: &Other) { ret; }
}

fn main() {}
