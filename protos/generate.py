"""Regenerate the committed stubs under ``protos/gen`` from the contract.

``python protos/generate.py`` rewrites them; ``--check`` generates into a temporary folder, compares
and exits 1 naming each file that differs. Refuses to run under generator versions other than the
pinned ones, since the stubs demand a runtime at least as new as their generator.
"""

from __future__ import annotations

import argparse
import filecmp
import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
GENERATED = HERE / "gen"
PINNED = {"grpcio-tools": "1.85.1", "mypy-protobuf": "5.1.0"}
BASELINE = HERE / "baseline.binpb"


def proto_files() -> list[str]:
    """Return the contract's files relative to ``protos``, sorted."""
    return sorted(str(path.relative_to(HERE)) for path in (HERE / "pointsman").rglob("*.proto"))


def check_generator_versions() -> None:
    """Exit with one line per generator whose installed version is not the pinned one."""
    wrong = [
        f"{name} {importlib.metadata.version(name)} is installed, {version} is pinned"
        for name, version in PINNED.items()
        if importlib.metadata.version(name) != version
    ]
    if wrong:
        sys.exit("\n".join(wrong))


def run_protoc(*arguments: str) -> None:
    """Run protoc over the contract; plug-ins are those installed beside this interpreter."""
    environment = dict(os.environ)
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment.get('PATH', '')}"
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I", str(HERE), *arguments]
    subprocess.run([*command, *proto_files()], check=True, env=environment, cwd=HERE)  # noqa: S603 - fixed command line


def generate(target: Path) -> None:
    """Write all stubs and package markers below ``target``."""
    target.mkdir(parents=True, exist_ok=True)
    outputs = ("python_out=", "pyi_out=", "grpc_python_out=", "mypy_grpc_out=quiet:")
    run_protoc(*(f"--{output}{target}" for output in outputs))
    for folder in {target / "pointsman", *(target / "pointsman").rglob("*")}:
        if folder.is_dir() and folder.name != "__pycache__":
            (folder / "__init__.py").write_text("")
    (target / "pointsman" / "py.typed").write_text("")


def write_descriptors(path: Path, *, has_comments: bool = False) -> None:
    """Write the contract's descriptor set, imports included, to ``path``."""
    comments = ("--include_source_info",) if has_comments else ()
    run_protoc("--include_imports", *comments, f"--descriptor_set_out={path}")


def differences(fresh: Path, committed: Path) -> list[str]:
    """Return the relative paths that are not byte for byte the same in both folders."""

    def listing(root: Path) -> set[Path]:
        files = (p for p in root.rglob("*") if p.is_file() and p.suffix != ".pyc")
        return {p.relative_to(root) for p in files}

    names = listing(fresh) | listing(committed)
    return sorted(
        str(name)
        for name in names
        if not (fresh / name).exists()
        or not (committed / name).exists()
        or not filecmp.cmp(fresh / name, committed / name, shallow=False)
    )


def main() -> None:
    """Generate, check, or write the baseline descriptor set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--baseline", action="store_true", help="accept the contract as baseline")
    arguments = parser.parse_args()
    check_generator_versions()
    if arguments.baseline:
        write_descriptors(BASELINE)
    elif arguments.check:
        with tempfile.TemporaryDirectory() as folder:
            generate(Path(folder))
            if changed := differences(Path(folder), GENERATED):
                sys.exit("stubs are stale, run `make protos`:\n" + "\n".join(changed))
    else:
        with tempfile.TemporaryDirectory(dir=HERE) as folder:  # a broken contract spoils no stubs
            fresh = Path(folder) / GENERATED.name
            generate(fresh)
            shutil.rmtree(GENERATED, ignore_errors=True)
            fresh.replace(GENERATED)


if __name__ == "__main__":
    main()
