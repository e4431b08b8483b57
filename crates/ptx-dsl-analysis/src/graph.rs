//! Algorithms on directed graphs whose nodes are numbers: postorder, dominators, strongly connected components. Code generation uses
//! them on regions, the analyses on basic blocks.

/// The nodes that the root reaches, each after all that it reaches first: depth-first search with a stack of its own. `next` adds the
/// successors of a node.
pub fn postorder(root: u32, n: usize, next: &dyn Fn(u32, &mut Vec<u32>)) -> Vec<u32> {
    let mut seen = vec![false; n];
    let mut out = Vec::new();
    let list = |b: u32| {
        let mut list = Vec::new();
        next(b, &mut list);
        list
    };
    let mut stack = vec![(root, list(root), 0usize)];
    seen[root as usize] = true;
    while let Some((b, next_nodes, at)) = stack.last_mut() {
        if let Some(&to) = next_nodes.get(*at) {
            *at += 1;
            if !seen[to as usize] {
                seen[to as usize] = true;
                stack.push((to, list(to), 0));
            }
        } else {
            out.push(*b);
            stack.pop();
        }
    }
    out
}

/// By node: is it on a cycle? Kosaraju's strongly connected components: backwards from each node in reverse postorder. `preds` adds the
/// predecessors of a node.
pub fn cyclic(n: usize, rpo: &[u32], preds: &dyn Fn(u32, &mut Vec<u32>)) -> Vec<bool> {
    let mut of = vec![NONE; n];
    let mut out = vec![false; n];
    let mut list = Vec::new();
    for &root in rpo {
        if of[root as usize] != NONE {
            continue;
        }
        of[root as usize] = root;
        let mut stack = vec![root];
        while let Some(b) = stack.pop() {
            list.clear();
            preds(b, &mut list);
            for &p in &list {
                if of[p as usize] == NONE {
                    of[p as usize] = root;
                    stack.push(p);
                }
                // An edge inside of the component.
                if of[p as usize] == root {
                    out[b as usize] = true;
                    out[p as usize] = true;
                }
            }
        }
    }
    out
}

/// Immediate dominators by Cooper, Harvey and Kennedy's algorithm; [`NONE`] for what the root does not reach. The root is its own.
/// `post` is the postorder from the root. On the reversed graph they are post-dominators.
pub fn dominators(n: usize, post: &[u32], preds: &dyn Fn(u32, &mut Vec<u32>)) -> Vec<u32> {
    let mut number = vec![NONE; n];
    let mut lists: Vec<Vec<u32>> = Vec::with_capacity(post.len());
    for (k, &b) in post.iter().enumerate() {
        number[b as usize] = k as u32;
        let mut list = Vec::new();
        preds(b, &mut list);
        lists.push(list);
    }
    let mut dom = vec![NONE; n];
    let Some(&root) = post.last() else { return dom };
    dom[root as usize] = root;
    while dominate(post, &lists, &number, &mut dom) {}
    dom
}

/// One round over all blocks but the root, which comes last in `post`; says whether it changed anything.
fn dominate(post: &[u32], lists: &[Vec<u32>], number: &[u32], dom: &mut [u32]) -> bool {
    let mut changed = false;
    for k in (0..post.len() - 1).rev() {
        let b = post[k];
        let mut new = NONE;
        for &p in &lists[k] {
            if number[p as usize] == NONE || dom[p as usize] == NONE {
                continue;
            }
            new = if new == NONE { p } else { intersect(new, p, dom, number) };
        }
        if dom[b as usize] != new {
            dom[b as usize] = new;
            changed = true;
        }
    }
    changed
}

/// The nearest common dominator of two nodes.
fn intersect(mut a: u32, mut b: u32, dom: &[u32], number: &[u32]) -> u32 {
    while a != b {
        while number[a as usize] < number[b as usize] {
            a = dom[a as usize];
        }
        while number[b as usize] < number[a as usize] {
            b = dom[b as usize];
        }
    }
    a
}

/// Numbers the dominator tree in preorder: the first and the last number of what each node dominates.
pub fn intervals(idom: &[u32]) -> Vec<(u32, u32)> {
    let mut children = vec![Vec::new(); idom.len()];
    for (b, &up) in idom.iter().enumerate() {
        if up != NONE && up != b as u32 {
            children[up as usize].push(b as u32);
        }
    }
    let mut out = vec![(NONE, NONE); idom.len()];
    let mut next = 0;
    let mut stack = vec![(0u32, 0usize)];
    if idom.first().is_none_or(|d| *d == NONE) {
        return out;
    }
    out[0].0 = 0;
    while let Some((b, at)) = stack.last_mut() {
        if let Some(&child) = children[*b as usize].get(*at) {
            *at += 1;
            next += 1;
            out[child as usize].0 = next;
            stack.push((child, 0));
        } else {
            out[*b as usize].1 = next;
            stack.pop();
        }
    }
    out
}

/// No node.
pub const NONE: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    /// Dominators and nodes on cycles of a graph of edges, from node 0.
    fn solve(n: usize, edges: &[(u32, u32)]) -> (Vec<u32>, Vec<bool>) {
        let next = |b: u32, out: &mut Vec<u32>| out.extend(edges.iter().filter(|e| e.0 == b).map(|e| e.1));
        let preds = |b: u32, out: &mut Vec<u32>| out.extend(edges.iter().filter(|e| e.1 == b).map(|e| e.0));
        let post = postorder(0, n, &next);
        let rpo: Vec<u32> = post.iter().rev().copied().collect();
        (dominators(n, &post, &preds), cyclic(n, &rpo, &preds))
    }

    #[test]
    fn a_diamond() {
        let (idom, cyclic) = solve(5, &[(0, 1), (0, 2), (1, 3), (2, 3)]);
        assert_eq!(idom, [0, 0, 0, 0, NONE]);
        assert_eq!(cyclic, [false; 5]);
        assert_eq!(intervals(&idom)[3], (3, 3));
    }

    /// The irreducible graph of figure 4 in Cooper, Harvey and Kennedy's paper, with its nodes 6 to 1 as 0 to 5.
    #[test]
    fn an_irreducible_graph() {
        let (idom, cyclic) = solve(6, &[(0, 1), (0, 2), (1, 5), (2, 4), (2, 3), (5, 4), (4, 5), (4, 3), (3, 4)]);
        assert_eq!(idom, [0, 0, 0, 0, 0, 0]);
        assert_eq!(cyclic, [false, false, false, true, true, true]);
    }

    #[test]
    fn a_loop_in_a_loop() {
        let (idom, cyclic) = solve(5, &[(0, 1), (1, 2), (2, 2), (2, 3), (3, 1), (3, 4)]);
        assert_eq!(idom, [0, 0, 1, 2, 3]);
        assert_eq!(cyclic, [false, true, true, true, false]);
        let ranges = intervals(&idom);
        assert!(ranges[1].0 <= ranges[3].0 && ranges[3].1 <= ranges[1].1);
    }
}
