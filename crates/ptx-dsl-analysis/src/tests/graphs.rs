//! Control-flow graphs and loops.

use super::*;
use crate::cfg::NONE;
use crate::loops::Loops;
use ptx_dsl_isa::opcode::op;

#[test]
fn a_branch_has_two_edges_with_the_value_of_its_guard() {
    let flow = flow("", "setp.eq.u32 %p1, %r1, 0;\n@!%p1 bra L;\nmov.u32 %r2, 1;\nL:\nret;");
    let branch = flow.cfg.block_of(first(&flow, op::bra));
    let join = block(&flow, "L");
    let edges: Vec<_> = flow.cfg.blocks[branch as usize].succ.iter().map(|e| (e.to, e.when)).collect();
    let next = flow.cfg.block_of(first(&flow, op::mov));
    assert_eq!(edges, [(join, Some(false)), (next, Some(true))]);
    assert_eq!(flow.cfg.branch(branch), Some(first(&flow, op::bra)));
    assert_eq!(flow.cfg.idom[join as usize], branch);
    assert_eq!(flow.cfg.ipdom[branch as usize], join);
    assert!(flow.cfg.dominates(branch, join) && !flow.cfg.dominates(next, join));
    // The join has one predecessor for each edge.
    assert_eq!(flow.cfg.blocks[join as usize].pred.len(), 2);
    assert_eq!(flow.cfg.branch(join), None);
}

#[test]
fn a_trap_ends_a_block_and_a_guarded_one_does_not() {
    let plain = flow("", "mov.u32 %r1, 1;\ntrap;\nmov.u32 %r2, 2;\nret;");
    let trap = plain.cfg.block_of(first(&plain, op::trap));
    let edges: Vec<_> = plain.cfg.blocks[trap as usize].succ.iter().map(|e| (e.to, e.when)).collect();
    assert_eq!(edges, [(plain.cfg.exit, None)]);
    // The second `mov` is unreachable.
    assert!(!plain.cfg.rpo.contains(&plain.cfg.block_of(nth(&plain, op::mov, 1))));

    let guarded = flow("", "setp.eq.u32 %p1, %r1, 0;\n@%p1 trap;\nmov.u32 %r2, 2;\nret;");
    let block = guarded.cfg.block_of(first(&guarded, op::trap));
    assert_eq!(guarded.cfg.block_of(first(&guarded, op::mov)), block);
    assert_eq!(guarded.cfg.branch(block), None);
}

#[test]
fn a_guarded_exit_has_an_edge_to_the_end() {
    let flow = flow("", "setp.eq.u32 %p1, %r1, 0;\n@%p1 exit;\nmov.u32 %r2, 2;\nret;");
    let block = flow.cfg.block_of(first(&flow, op::exit));
    let edges: Vec<_> = flow.cfg.blocks[block as usize].succ.iter().map(|e| (e.to, e.when)).collect();
    assert_eq!(edges, [(flow.cfg.exit, Some(true)), (flow.cfg.block_of(first(&flow, op::mov)), Some(false))]);
}

#[test]
fn a_branch_table_has_an_edge_to_each_label() {
    let flow = flow("", "T: .branchtargets A, B, A;\nbrx.idx %r1, T;\nA:\nmov.u32 %r2, 1;\nB:\nret;");
    let table = flow.cfg.block_of(first(&flow, op::brx_idx));
    let (a, b) = (block(&flow, "A"), block(&flow, "B"));
    let edges: Vec<_> = flow.cfg.blocks[table as usize].succ.iter().map(|e| e.to).collect();
    assert_eq!(edges, [a, b, a]);
    assert_eq!(flow.cfg.ipdom[table as usize], b);
}

#[test]
fn an_endless_loop_has_no_post_dominator() {
    let flow = flow("", "L:\nadd.u32 %r1, %r1, 1;\nbra L;");
    let body = block(&flow, "L");
    assert!(flow.cfg.in_loop(body));
    assert_eq!(flow.cfg.ipdom[body as usize], NONE);
}

const NESTED: &str = "mov.u32 %r1, 0;\nA:\nmov.u32 %r2, 0;\nB:\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 4;\n@%p1 bra B;\n\
                      add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 4;\n@%p2 bra A;\nC:\nret;";

#[test]
fn loops_in_loops() {
    let flow = flow("", NESTED);
    let loops = Loops::new(&flow.cfg);
    let (a, b, c) = (block(&flow, "A"), block(&flow, "B"), block(&flow, "C"));
    let latch = flow.cfg.block_of(nth(&flow, op::add, 1));
    assert_eq!(
        (loops.innermost(a), loops.innermost(b), loops.innermost(latch), loops.innermost(c)),
        (Some(a), Some(b), Some(a), None)
    );
    assert_eq!((loops.parent(b), loops.parent(a)), (Some(a), None));
    assert!(loops.contains(a, b) && !loops.contains(b, a));
    assert!(loops.same_loops(a, latch) && !loops.same_loops(a, b));
    assert!(!loops.irreducible());
}

#[test]
fn a_loop_with_two_entries_is_irreducible() {
    let flow = flow(
        "",
        "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra B;\nA:\nadd.u32 %r1, %r1, 1;\nB:\nsetp.lt.u32 %p2, %r1, 4;\n@%p2 bra A;\nret;",
    );
    assert!(Loops::new(&flow.cfg).irreducible());
}

#[test]
fn reachability_and_post_dominance() {
    let flow = flow("", NESTED);
    let (a, b, c) = (block(&flow, "A"), block(&flow, "B"), block(&flow, "C"));
    let entry = flow.cfg.block_of(0);
    let cfg = &flow.cfg;
    let after = cfg.reachable_from([b]);
    assert_eq!([entry, a, b, c].map(|x| after[x as usize]), [false, true, true, true]);
    let before = cfg.blocks_reaching([b]);
    assert_eq!([entry, a, b, c].map(|x| before[x as usize]), [true, true, true, false]);
    assert!(cfg.post_dominates(b, a) && cfg.post_dominates(c, entry) && !cfg.post_dominates(a, b));
    assert!(cfg.only_predecessor(a, entry) && cfg.only_predecessor(b, a) && !cfg.only_predecessor(b, entry));
}
