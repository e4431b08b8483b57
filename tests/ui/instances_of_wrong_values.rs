use ptx_dsl::prelude::*;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k<const N: u32>() .reqntid N {
        .shared .align N .b32 x[N];
        st.shared.b32 [x], N;
        ret;
    }
}

fn main() {
    println!("{}", k::<48>::PTX);
    println!("{}", k::<2048>::NAME);
    k::<64>.launch(&Host::new(), Launch::grid(1), ()).unwrap();
}
