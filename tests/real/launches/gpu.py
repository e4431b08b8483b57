"""Launches kernels of real modules on a GPU and on the host, and prints how they agree: python gpu.py PTX_DSL MODULES [NAME...]

MODULES is a folder of `GENERATOR/NAME.TARGET.ptx`, of which those for sm_80 and sm_90 run. `cargo xtask gpu` copies all of it to a folder
for a machine without Rust; it needs Python with NumPy there.
"""

import concurrent.futures
import importlib
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

from run import GENERATORS, compare, spell

TARGETS = ["sm_80", "sm_90"]
PATIENCE = 100
JOBS = 8


def main(ptx_dsl, modules, *names):
    jobs = []
    for generator in GENERATORS:
        for name, (targets, make) in importlib.import_module(f"of_{generator}").LAUNCHES.items():
            for target in [target for target in TARGETS if target in targets]:
                title = f"{generator}/{name}.{target}"
                if not names or any(part in title for part in names):
                    jobs.append((title, target, make))
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        verdicts = list(pool.map(lambda job: verdict(ptx_dsl, modules, *job), jobs))
    kinds = ["equal", "within", "not run", "differs"]
    for (title, *_), (kind, words) in zip(jobs, verdicts):
        if kind in ("not run", "differs"):
            print(f"{title} {kind}: {words}")
    counts = " | ".join(str(sum(kind == wanted for kind, _ in verdicts)) for wanted in kinds)
    print("| launches | all | bit-equal to the host | within the bound of NumPy | not run | differ |\n|---|---|---|---|---|---|")
    print(f"| of real generators | {len(jobs)} | {counts} |")
    return any(kind == "differs" for kind, _ in verdicts)


def verdict(ptx_dsl, modules, title, target, make):
    """The kind of a launch, and more words."""
    path = os.path.join(modules, f"{title}.ptx")
    if not os.path.exists(path):
        return "not run", "there is no module"
    launch = make(target) if make.__code__.co_argcount else make()
    with tempfile.TemporaryDirectory() as folder:
        path = for_driver(path, folder)
        command, outputs = spell(launch, path, target, folder)
        try:
            both = told(ptx_dsl, path, command, "--gpu", "--compare")
            if both is None:
                return "equal", ""
            alone = told(ptx_dsl, path, command, "--gpu")
        except subprocess.TimeoutExpired:
            return "differs", f"no end in {PATIENCE} s"
        if alone is not None:
            refused = "the driver reads PTX" in alone or "and this GPU is sm_" in alone
            return ("not run" if refused else "differs"), alone
        for place, buffer, file in outputs:
            complaint = compare(buffer, np.load(file))[1]
            if complaint:
                return "differs", f"argument {place}: {complaint}"
        return "within", both


def for_driver(path, folder):
    """The module with a version that drivers of CUDA 13.0 read: generators write the newest, and seldom use what it has."""
    text = open(path).read()
    copy = os.path.join(folder, "module.ptx")
    with open(copy, "w") as file:
        file.write(re.sub(r"^\.version 9\.[1-9]\d*", ".version 9.0", text, flags=re.M))
    return copy


def told(ptx_dsl, path, command, *options):
    """What the command says if it fails."""
    done = subprocess.run(
        [ptx_dsl, "run", path, *command, *options], capture_output=True, text=True, timeout=PATIENCE
    )
    first = done.stderr.find("error")
    return done.stderr[max(first, 0) :][:300].replace("\n", " ") if done.returncode else None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
