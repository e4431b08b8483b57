#!/bin/sh
# Runs the tests of the typed functions, then the benchmarks, on a machine with a GPU and torch. The folder has the test program and the cubins.
cd "$(dirname "$0")" && ./tests --skip schedules --skip ptx && python3 bench.py "$@"
