ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k() { @for I in 0..4 { bar.sync I; } ret; }
}
