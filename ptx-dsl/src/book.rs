//! The programs in README.md and in the book (`docs/`) are compiled as doc tests, and run where they need no GPU.

/// Makes a page of the book a doc test.
macro_rules! pages {
    ($($name:ident: $file:literal),+ $(,)?) => {$(
        #[doc = include_str!(concat!("../../", $file))]
        struct $name;
    )+};
}

pages! {
    Readme: "README.md",
    FirstKernel: "docs/guide/first-kernel.md",
    FromCuda: "docs/guide/cuda-inline.md",
    Constants: "docs/guide/constants.md",
    Parameters: "docs/guide/parameters.md",
    Parts: "docs/guide/parts.md",
    Testing: "docs/guide/testing.md",
    Profile: "docs/guide/profile.md",
}

#[cfg(feature = "build")]
pages! { OtherCompilers: "docs/guide/other-compilers.md" }

#[cfg(feature = "load")]
pages! { Run: "docs/reference/run.md" }

#[cfg(feature = "cuda")]
pages! {
    OnGpu: "docs/guide/gpu.md",
    OnGpuAtOnce: "docs/guide/gpu-streams.md",
    OnSeveral: "docs/guide/several-gpus.md",
}

#[cfg(feature = "half")]
pages! { Layouts: "docs/guide/layouts.md" }
