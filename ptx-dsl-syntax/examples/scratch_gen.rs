use ptx_dsl_syntax::isa::{*, syntax::*};
use ptx_dsl_syntax::ty::*;
use ptx_dsl_syntax::lex::{lex,line_col};
use std::collections::BTreeSet;
fn reg(t: Ty, i: usize) -> String { match t { Ty::Pred=>format!("%p{i}"), Ty::F32=>format!("%f{i}"), Ty::F64=>format!("%d{i}"), _=> match t.bits() {8|16=>format!("%h{i}"),32=>format!("%r{i}"),64=>format!("%rd{i}"),128=>format!("%q{i}"),_=>format!("%r{i}")} } }
fn main(){
 let hdr=std::env::args().nth(1).unwrap();
 let mut lines=BTreeSet::new();
 for (_fam,list) in FAMILIES { for e in *list { if e.opcode=="call"||e.opcode=="brx.idx"{continue;}
  for f in forms(e) {
   let n=f.slots.len();
   // choices: base = required first alternatives; vary each slot over alts, groups on
   let mut variants: Vec<Vec<Option<usize>>> = vec![];
   let base: Vec<Option<usize>> = f.slots.iter().map(|s| if s.group==0 {Some(0)} else {None}).collect();
   variants.push(base.clone());
   for s in 0..n { for a in 0..f.slots[s].alts.len() { let mut v=base.clone(); v[s]=Some(a); if f.slots[s].group!=0 { for o in 0..n { if f.slots[o].group==f.slots[s].group && v[o].is_none(){v[o]=Some(0);} } } variants.push(v.clone());
      // with each type
      for t in 0..n { if t!=s && f.slots[t].is_type { for b in 0..f.slots[t].alts.len() { let mut w=v.clone(); w[t]=Some(b); variants.push(w);} } } } }
   for v in variants {
     let words: Vec<&str> = (0..n).filter_map(|s| v[s].map(|a| f.slots[s].alts[a].as_ref())).collect();
     let mut sp=e.opcode.to_string(); for w in &words { if w.starts_with("::"){sp+=w}else{sp+=".";sp+=w} }
     let slotty=|name:&str|->Option<Ty>{ if let Some(i)=f.slots.iter().position(|s| s.name==name){return v[i].and_then(|a| Ty::from_name(&f.slots[i].alts[a]));}
        let types:Vec<Ty>=(0..n).filter_map(|s| v[s].and_then(|a| Ty::from_name(&f.slots[s].alts[a]))).collect(); 
        let lit=(0..n).find(|i| f.slots[*i].is_type && f.slots[*i].alts.len()==1 && f.slots[*i].name[1..]==*f.slots[*i].alts[0]).and_then(|i| Ty::from_name(&f.slots[i].alts[0]));
        match name {".type"=>lit.or(types.first().copied()),".atype"|".stype"|".ctype"=>types.get(1).or(types.first()).copied(),_=>types.first().copied()} };
     let vec= if words.contains(&"v2"){2}else if words.contains(&"v4"){4}else if words.contains(&"v8"){8}else{1};
     for full in [false,true] {
     let mut ops=vec![]; let mut idx=0;
     for o in &f.operands { if o.group!=0 && !full {continue;} idx+=1;
       let one=|name:&str,i:usize|->String{ let Some(s)=e.operands.iter().find(|s| s.name==name) else {return format!("%r{i}")};
          if s.role==Role::Name {return "L".into();}
          let (t,c)=match s.ty {OpTy::Ty(t)=>(Some(t),1),OpTy::Slot(x)|OpTy::Parts(x)=>(slotty(x),1),OpTy::Wide(x)=>(slotty(x).map(|t| if words.contains(&"wide"){match t{Ty::U16=>Ty::U32,Ty::S16=>Ty::S32,Ty::U32=>Ty::U64,_=>Ty::S64}}else{t}),1),OpTy::Vec(x,c)=>(Ty::from_name(x.trim_start_matches('.')).or_else(||slotty(x)),if c==0{vec}else{c}),OpTy::None=>(Some(Ty::B32),1)};
          let t=t.unwrap_or(Ty::B32);
          if s.imm_only||s.range.is_some(){ return s.range.map_or(0,|r| r.0.max(0)).to_string(); }
          if c>1 {return format!("{{{}}}",(0..c).map(|k| reg(t,(i+k as usize)%8)).collect::<Vec<_>>().join(","));}
          reg(t,i%8)};
       ops.push(match &o.shape { Shape::Value=>one(o.name,idx),Shape::Sink=>"_".into(),Shape::Number(n)=>n.to_string(),Shape::Addr(p)=>if p.len()<=1{"[%rd7]".into()}else{format!("[{}]",p.iter().map(|_|"%rd7".to_string()).collect::<Vec<_>>().join(","))},Shape::Vector(p)=>format!("{{{}}}",p.iter().enumerate().map(|(k,q)| if matches!(q.shape,Shape::Sink){"_".into()}else{one(q.name,k)}).collect::<Vec<_>>().join(",")),Shape::Pair(s,_)=>format!("{}|{}",one(o.name,idx),{let _=s;"%p7".to_string()}),Shape::List=>"(%r1)".into() });
     }
     lines.insert(format!("{sp} {};",ops.join(", ")));
     if f.optional_groups==0{break;}
     } } } } }
 let mut text=format!("{hdr}\n.entry k() {{ .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %d<9>; .reg .b128 %q<9>;\n").replace("\\n","\n");
 let first=text.lines().count();
 for l in &lines { text+=l; text+="\n"; } text+="L: ret; }\n";
 let (lx,_)=lex(&text); let s=std::time::Instant::now(); let c=ptx_dsl_syntax::compile(&lx.tokens); eprintln!("{:?} for {}",s.elapsed(),lines.len());
 let mut bad=std::collections::BTreeMap::new();
 for d in &c.diagnostics { bad.entry(line_col(&text,lx.bytes(d.span).start).0).or_insert_with(||format!("PTX{:04} {}",d.code,d.message)); }
 std::fs::write("/work/main/wip/check/gen.ptx",&text).unwrap();
 let mut o=String::new(); for (i,l) in text.lines().enumerate().skip(first) { o+=&format!("{}\t{}\t{}\n",i+1,l,bad.get(&(i+1)).map_or("ok",|s|s)); }
 std::fs::write("/work/main/wip/check/gen.tsv",o).unwrap();
}
