use ptx_dsl_syntax::lex::{lex,line_col};
fn main(){ let p=std::env::args().nth(1).unwrap(); let t=std::fs::read_to_string(p).unwrap(); let (l,e)=lex(&t);
 let s=std::time::Instant::now(); let c=ptx_dsl_syntax::compile(&l.tokens); eprintln!("{:?} instrs {}", s.elapsed(), c.ast.instrs);
 for d in e.iter().chain(&c.diagnostics){ println!("line {}; PTX{:04} {} [{}] {:?} {:?}", line_col(&t,l.bytes(d.span).start).0, d.code, d.message, &t[l.bytes(d.span)], d.notes, d.helps); } }
