//! ptxas assembles every instance, and no register spills.

use ptx_dsl_kernels::instances;
use ptx_dsl_test_support::ptxas;

#[test]
fn assembles() {
    let modules: Vec<_> = instances().map(|instance| (instance.name.to_owned(), instance.ptx.to_owned())).collect();
    let Some(verdicts) = ptxas::assemble_without_spills(&modules) else { return };
    let refused: Vec<_> = verdicts.into_iter().filter_map(Result::err).collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
