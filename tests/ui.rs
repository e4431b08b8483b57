//! One file per mistake, named after it, compiled by rustc: tests the message and the underlined token.

/// The snapshots belong to the pinned toolchain; other channels of rustc word and render messages differently.
#[test]
fn mistakes_are_refused_where_they_stand() {
    let version = rustc_version::version_meta().expect("rustc has a version");
    if version.channel != rustc_version::Channel::Stable || (version.semver.major, version.semver.minor) != (1, 95) {
        eprintln!("skipped: the snapshots of tests/ui are of rustc 1.95, this is {}", version.semver);
        return;
    }
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
    // A warning does not stop the build, and its level can be set.
    cases.pass("tests/ui/pass/*.rs");
}
