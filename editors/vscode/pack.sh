#!/usr/bin/env bash
# Tests the grammars and packs the extension: `ptx-dsl.vsix`, which `code --install-extension ptx-dsl.vsix` installs. It needs npm.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
npm install --no-audit --no-fund --no-package-lock --loglevel=error
npm test
cp ../../LICENSE-MIT LICENSE
npm run package
rm LICENSE
