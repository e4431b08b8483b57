"""Launches kernels of real modules on the host, and compares the results with NumPy's: python run.py PTX_DSL MODULES SCHEDULES [NAME...]

MODULES is a folder of `GENERATOR/NAME.TARGET.ptx`. Each kernel runs on the plain host and on the checked one, there with so many schedules,
or with the usual one if SCHEDULES is 0.
"""

import importlib
import os
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

from launch import NULL, Buffer, Map, Struct

#: Dynamic shared memory: what a CTA may have, as a launcher that asks for all of it.
SHARED = {"sm_80": 166912, "sm_90": 232448, "sm_100": 232448, "sm_120": 101376}
GENERATORS = ["triton", "gluon", "numba", "cute"]
PATIENCE = 600
#: Triton and Gluon leave `tcgen05.fence` out, for which ptxas generates no instruction. LLVM moves readers of loaded registers above
#: `tcgen05.wait::ld`, and ptxas makes them wait.
CHECKED = ["--checked", "--allow", "PTX0679", "--allow", "PTX0605"]

#: Launches that fail, and why; one that does not fail any more is a failure too.
KNOWN = {}


def main(ptx_dsl, modules, schedules, *names):
    if int(schedules):
        CHECKED.extend(["--explore", schedules])
    rows, failures, known, skipped = [], 0, 0, []
    for generator in GENERATORS:
        for name, (targets, make) in importlib.import_module(f"of_{generator}").LAUNCHES.items():
            for target in targets:
                title = f"{generator}/{name}.{target}"
                if names and not any(part in title for part in names):
                    continue
                path = os.path.join(modules, f"{title}.ptx")
                if not os.path.exists(path):
                    skipped.append(title)
                    continue
                row, complaint = run(ptx_dsl, path, make(target) if make.__code__.co_argcount else make(), target)
                if title in KNOWN and complaint:
                    known += 1
                    print(f"known to fail: {title}: {KNOWN[title]}", flush=True)
                    continue
                rows.append((generator, name, target, *row))
                print("|", " | ".join(rows[-1]), "|", flush=True)
                complaint = complaint or title in KNOWN and "it runs: take it out of KNOWN"
                if complaint:
                    failures += 1
                    print(f"FAILED {title}: {complaint}", flush=True)
    if skipped:
        print(f"skipped: {len(skipped)} launches without a module, such as {skipped[0]}")
    print(f"> real: {len(rows) - failures} of {len(rows)} launches agree with NumPy, {known} known to fail, {len(skipped)} skipped")
    return 1 if failures or not rows else 0


def run(ptx_dsl, path, launch, target):
    """Runs it on both hosts. Returns the columns of the table, and what is wrong."""
    times, worst = [], 0.0
    for options in [], CHECKED:
        with tempfile.TemporaryDirectory() as folder:
            command, outputs = spell(launch, path, target, folder)
            start = time.monotonic()
            try:
                done = subprocess.run(
                    [ptx_dsl, "run", path, *command, *options], capture_output=True, text=True, timeout=PATIENCE
                )
            except subprocess.TimeoutExpired:
                return row(launch, times, worst), f"no end in {PATIENCE} s {options}"
            times.append(time.monotonic() - start)
            if done.returncode:
                return row(launch, times, worst), f"{options} exit {done.returncode}\n{errors(done.stderr)}"
            for place, buffer, file in outputs:
                ratio, complaint = compare(buffer, np.load(file))
                worst = max(worst, ratio)
                if complaint:
                    return row(launch, times, worst), f"{options} argument {place}: {complaint}"
    return row(launch, times, worst), None


def errors(told):
    """The errors without the warnings of the front end; PTX of long vectors is cut."""
    first = told.find("error")
    return "\n".join(line if len(line) < 400 else line[:200] + " ... " + line[-180:] for line in told[first:].splitlines())


def row(launch, times, worst):
    return launch.size, " / ".join(f"{t:.1f}" for t in times), f"{worst:.2f}"


def compare(buffer, got):
    """The largest difference as a part of the bound, and what is wrong."""
    if got.shape != buffer.array.shape:
        return np.inf, f"its shape is {got.shape}"
    got = buffer.values(got)
    want = buffer.expected
    bound = np.broadcast_to(np.asarray(buffer.bound, np.float64), want.shape)
    with np.errstate(invalid="ignore"):
        difference = np.abs(got.astype(np.float64) - want)
    difference[(got == want) | (np.isnan(got) & np.isnan(want))] = 0
    wrong = ~(difference <= bound)
    ratio = np.max(np.divide(difference, bound, where=bound > 0, out=np.zeros_like(difference)), initial=0.0)
    if not wrong.any():
        return float(ratio), None
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return float(ratio), f"{wrong.sum()} of {wrong.size} wrong, first at {at}: {got[at]}, expected {want[at]} +- {bound[at]}"


def spell(launch, path, target, folder):
    """The options of `ptx-dsl run`, and the results with their files."""
    text = open(path).read()
    entry = re.search(r"\.entry\s+\S+?\s*\((.*?)\n\s*\)", text, re.S)
    wanted = len(re.findall(r"^\s*\.param\b", entry[1], re.M))
    arguments = launch.arguments + [NULL] * (wanted - len(launch.arguments))
    if len(arguments) != wanted or wanted - len(launch.arguments) not in (0, 2):
        raise SystemExit(f"{path}: {len(launch.arguments)} arguments for {wanted} parameters")
    command, outputs, places = ["--grid", numbers(launch.grid)], [], {}
    for option in "block", "cluster":
        if getattr(launch, option):
            command += [f"--{option}", numbers(getattr(launch, option))]
    if re.search(r"\.extern \.shared", text):
        command += ["--shared", str(SHARED[target])]
    for place, argument in enumerate(arguments):
        command += ["--arg", f"{place}={value(argument, place, folder, places)}"]
        buffer = argument.buffer if isinstance(argument, Map) else argument
        if isinstance(buffer, Buffer) and buffer.expected is not None and places[id(buffer)] == place:
            file = os.path.join(folder, f"{place}.npy")
            command += ["--out", f"{place}={file}"]
            outputs.append((place, buffer, file))
    return command, outputs


def value(argument, place, folder, places):
    if argument is NULL:
        return "null"
    if isinstance(argument, Struct):
        file = os.path.join(folder, f"{place}.bin")
        with open(file, "wb") as out:
            out.write(argument.bytes)
        return f"@{file}"
    if isinstance(argument, Buffer):
        return data(argument, place, folder, places)
    if isinstance(argument, Map):
        box = "x".join(str(n) for n in reversed(argument.box))
        inside = data(argument.buffer, place, folder, places)
        return f"tensormap({inside}, box={box}, swizzle={argument.swizzle}{argument.fields})"
    return str(argument)


def data(buffer, place, folder, places):
    """The file of a buffer."""
    places.setdefault(id(buffer), place)
    file = os.path.join(folder, f"in{place}.bin")
    np.ascontiguousarray(buffer.array).tofile(file)
    return f"@{file}:{buffer.element()}[{','.join(str(n) for n in buffer.array.shape)}]"


def numbers(dims):
    return "x".join(str(n) for n in dims)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
