// SYNTAX TEST "source.rust" "`ptx!` in Rust, with what only it has, and Rust after it"
fn before() {}
// <-- keyword.other.rust
ptx! {
// <--- entity.name.function.macro.rust
    <sm_90, ptx 8.0>
    .visible .entry k(.param .u32 n) {
//  ^^^^^^^^ meta.embedded.block.ptx storage.type.directive.ptx
        .reg .b32 %r<4>;
        add.u32 %r0, %r1, 7;
//      ^^^ meta.embedded.block.ptx support.function.instruction.ptx
//         ^^^^ storage.modifier.qualifier.ptx
//              ^^^ variable.other.register.ptx
        @for I in 0..4 { mov.u32 %r{I}, I; }
//      ^^^^ keyword.control.ptx
//             ^^ keyword.control.ptx
//                       ^^^ support.function.instruction.ptx
        let %q: b32 = %r0 + 1;
//      ^^^ keyword.other.ptx
//          ^^ variable.other.register.ptx
        if %q < 5 { ret; } else { ret; }
//      ^^ keyword.control.ptx
//                  ^^^ support.function.instruction.ptx
//                         ^^^^ keyword.control.ptx
        ring::wait!(full, 0);
//            ^^^^^ entity.name.function.piece.ptx
    }
}
fn after() {}
// <-- keyword.other.rust
// <~- !meta.embedded.block.ptx
// ptx! { in a comment
// <---- comment.line.double-slash.rust
let k = ptx!(<sm_90, ptx 8.0> |y: &mut [u32]| {
//      ^^^^ entity.name.function.macro.rust
    st.global.u32 [%y], 1;
//  ^^ meta.embedded.block.ptx support.function.instruction.ptx
});
let z = "ptx! {";
// <--- keyword.other.rust
//      ^^^^^^^^ string.quoted.double.rust
