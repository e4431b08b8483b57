#!/bin/sh
# Runs the benchmarks on a machine with a GPU and torch. The folder has the cubins.
cd "$(dirname "$0")" && python3 bench.py "$@"
