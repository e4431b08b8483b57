#!/usr/bin/env bash
# Builds the command line as one static file for Linux: dist/static.sh [TARGET]. The target is x86_64-unknown-linux-musl, or
# aarch64-unknown-linux-musl with a cross compiler. A static program cannot load the CUDA driver: `--gpu` and `doctor` find no GPU.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=${1:-x86_64-unknown-linux-musl}
rustup target add "$target"
cargo build --locked --release -p ptx-dsl --features cli --bin ptx-dsl --target "$target"
program=target/$target/release/ptx-dsl
if ldd "$program" 2> /dev/null | grep -q '=>'; then
    echo "error: $program is not static" >&2
    exit 1
fi
"$program" --version
echo "$program"
