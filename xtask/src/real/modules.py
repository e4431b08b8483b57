"""What the makers of modules have in common: they read one file and write a PTX text for each module and target."""

import importlib.util
import pathlib
import sys
import traceback


def load(path):
    """The file as a Python module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make(compile):
    """FILE OUTPUT TARGET...: writes OUTPUT/<module>.<target>.ptx, and says for each on a line whether it was made."""
    path, output, *targets = sys.argv[1:]
    output = pathlib.Path(output)
    output.mkdir(parents=True, exist_ok=True)
    failed = False
    for name, entry in load(pathlib.Path(path)).MODULES.items():
        for target in entry["targets"]:
            if target not in targets:
                continue
            try:
                text = compile(entry, target)
            except Exception:
                failed = True
                reason = "".join(traceback.format_exc().splitlines(keepends=True)[-int(__import__("os").environ.get("TB","12")):])
                print(f"failed {name}.{target}\n{reason}", flush=True)
                continue
            (output / f"{name}.{target}.ptx").write_text(text)
            print(f"made {name}.{target}", flush=True)
    sys.exit(failed)
