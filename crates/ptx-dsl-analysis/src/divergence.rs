//! Divergent regions of a graph: the nodes between a divergent branch and its immediate post-dominator, where threads that took
//! different ways have not met again.

use crate::graph::{NONE, dominators, postorder};

/// The predecessors of each node.
pub fn predecessors(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut out = vec![Vec::new(); successors.len()];
    for (b, next) in successors.iter().enumerate() {
        for s in next {
            out[*s].push(b);
        }
    }
    out
}

/// The post-dominator tree of a graph, with one node more after the last: the end, which follows all nodes without successors.
struct PostDominators {
    /// The immediate post-dominator of each node; `None` if no path from it comes to the end.
    parent: Vec<Option<usize>>,
    /// The depth of each node in the tree: the distance to its root, the end.
    depth: Vec<usize>,
}

impl PostDominators {
    fn new(successors: &[Vec<usize>]) -> Self {
        let n = successors.len();
        let mut preds = predecessors(successors);
        preds.push((0..n).filter(|b| successors[*b].is_empty()).collect());
        // the reversed graph: its root is the end
        let next = |b: u32, out: &mut Vec<u32>| out.extend(preds[b as usize].iter().map(|p| *p as u32));
        let back = |b: u32, out: &mut Vec<u32>| match successors.get(b as usize) {
            Some(list) if list.is_empty() => out.push(n as u32),
            Some(list) => out.extend(list.iter().map(|s| *s as u32)),
            None => {}
        };
        let post = postorder(n as u32, n + 1, &next);
        let idom = dominators(n + 1, &post, &back);
        let mut depth = vec![0; n + 1];
        for b in post.iter().rev().skip(1) {
            depth[*b as usize] = depth[idom[*b as usize] as usize] + 1;
        }
        let parent = idom[..n].iter().map(|up| (*up != NONE).then_some(*up as usize)).collect();
        PostDominators { parent, depth }
    }
}

/// Tells for each node whether it is one of these branches, or between one of them and its immediate post-dominator. Linear in the graph.
pub fn divergent(successors: &[Vec<usize>], branches: &[usize]) -> Vec<bool> {
    let mut inside = vec![false; successors.len()];
    if branches.is_empty() {
        return inside;
    }
    let tree = PostDominators::new(successors);
    for &b in branches {
        inside[b] = true;
    }
    // Branches that reconverge nearest to the end come first: what a later branch reaches, and more, is then done already.
    let mut order: Vec<(usize, usize, usize)> =
        branches.iter().filter_map(|b| tree.parent[*b].map(|join| (tree.depth[join], *b, join))).collect();
    order.sort_unstable();
    let mut seen = vec![false; successors.len()];
    for (_, b, join) in order {
        let mut work = successors[b].clone();
        while let Some(r) = work.pop() {
            if r != join && !seen[r] {
                seen[r] = true;
                inside[r] = true;
                work.extend_from_slice(&successors[r]);
            }
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cfg::Cfg;
    use ptx_dsl_frontend::lex::lex;

    /// The blocks of a kernel that are divergent if its conditional branches are, by the labels they start at.
    fn divergent_labels(body: &str) -> Vec<String> {
        let text = format!(
            ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{{\n.reg .pred %p, %q; .reg .b32 %r;\n{body}\n}}\n"
        );
        let compiled = ptx_dsl_frontend::compile(&lex(&text).0.tokens);
        assert!(!compiled.failed(), "{:?}", compiled.diagnostics);
        let f = &compiled.hir.functions[0];
        let cfg = Cfg::new(f);
        let successors: Vec<Vec<usize>> =
            cfg.blocks.iter().map(|b| b.succ.iter().map(|e| e.to as usize).collect()).collect();
        let branches: Vec<usize> = (0..cfg.blocks.len()).filter(|b| successors[*b].len() > 1).collect();
        let inside = divergent(&successors, &branches);
        let mut at = 0;
        let mut found = Vec::new();
        for stmt in &f.body {
            match stmt {
                ptx_dsl_isa::hir::Stmt::Instr(_) => at += 1,
                ptx_dsl_isa::hir::Stmt::Label(id) if inside[cfg.block_of(at) as usize] => {
                    found.push(f.labels[id.0 as usize].name.clone());
                }
                ptx_dsl_isa::hir::Stmt::Label(_) => {}
            }
        }
        found
    }

    #[test]
    fn the_arms_of_a_diamond_diverge_and_its_join_does_not() {
        let body = "mov.u32 %r, 1; setp.eq.u32 %p, %r, 1;\n@%p bra a; b: add.u32 %r, %r, 1; bra join;\na: add.u32 %r, %r, 2;\njoin: add.u32 %r, %r, 3; ret;";
        assert_eq!(divergent_labels(body), ["b", "a"]);
    }

    #[test]
    fn an_outer_branch_covers_an_inner_one() {
        let body = "mov.u32 %r, 1; setp.eq.u32 %p, %r, 1;\n@%p bra join; a: setp.eq.u32 %q, %r, 2;\n@%q bra inner; b: add.u32 %r, %r, 1;\ninner: add.u32 %r, %r, 2;\njoin: add.u32 %r, %r, 3; ret;";
        assert_eq!(divergent_labels(body), ["a", "b", "inner"]);
    }

    #[test]
    fn lanes_that_leave_a_loop_wait_behind_it() {
        let body = "mov.u32 %r, 1;\nhead: add.u32 %r, %r, 1; setp.lt.u32 %p, %r, 9;\n@%p bra head;\nafter: add.u32 %r, %r, 3; ret;";
        assert_eq!(divergent_labels(body), ["head"]);
    }

    #[test]
    fn what_comes_to_no_end_has_no_join() {
        // node 1 is a loop without a way out
        assert_eq!(divergent(&[vec![1, 2], vec![1], vec![]], &[0]), [true, true, false]);
        assert_eq!(divergent(&[vec![1], vec![1, 2], vec![1]], &[1]), [false, true, false]);
    }
}
