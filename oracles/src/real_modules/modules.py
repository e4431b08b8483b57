"""The common part of the generators' scripts: each reads one file of kernels and writes a PTX text for each module and target.

    FILE OUTPUT TARGET... [--packages DIRECTORY] [--some] [--only NAME]...

writes OUTPUT/<module>.<target>.ptx, and a line `made <module> <target>` for each on standard output. A module that its compiler
refuses is `failed <module> <target>`, and OUTPUT/<module>.<target>.failed says why.
"""

import argparse
import importlib.util
import pathlib
import site
import sys
import traceback

# The end of a compiler's traceback is what tells.
LINES = 40


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("targets", nargs="+")
    parser.add_argument("--packages", help="where pip has installed the compiler")
    parser.add_argument("--some", action="store_true", help="one target for each module, in turn")
    parser.add_argument("--only", action="append", default=[], help="modules whose names hold this")
    return parser.parse_args()


def load(path):
    """The file as a Python module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    # Compilers look for the source of a kernel by the module that it is in.
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def make(compile):
    """Compiles what the command line names with `compile(entry, target)`, which returns the text."""
    wanted = arguments()
    if wanted.packages:
        site.addsitedir(wanted.packages)
        # Where `cuda.pathfinder` looks for NVIDIA's libraries.
        site.getsitepackages = lambda: [wanted.packages]
        # Before what the system has of the same packages.
        sys.path.insert(0, wanted.packages)
    wanted.output.mkdir(parents=True, exist_ok=True)
    for place, (name, entry) in enumerate(load(wanted.file).MODULES.items()):
        targets = entry["targets"]
        if wanted.some:
            targets = [targets[place % len(targets)]]
        if wanted.only and not any(part in name for part in wanted.only):
            continue
        for target in targets:
            if target not in wanted.targets:
                continue
            stem = wanted.output / f"{name}.{target}"
            try:
                stem.with_name(stem.name + ".ptx").write_text(compile(entry, target))
                print("made", name, target, flush=True)
            except Exception:
                reason = traceback.format_exc().splitlines(keepends=True)
                stem.with_name(stem.name + ".failed").write_text("".join(reason[-LINES:]))
                print("failed", name, target, flush=True)
