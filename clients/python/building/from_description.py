"""Builds with setuptools, over a copy of this folder that also has what is made from the service: types and operations, from its
description; the verifier of webhooks and the licence, as they stand in the repository. An unpacked sdist has all of it already."""

import json
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator

from setuptools import build_meta

import generate

HERE = Path(__file__).resolve().parent.parent
PACKAGE = "receivables_fund"
REPOSITORY = HERE.parent.parent


def build_wheel(wheel_directory: str, *settings: Any) -> str:
    target = os.path.abspath(wheel_directory)
    with _complete():
        return build_meta.build_wheel(target, *settings)


def build_sdist(sdist_directory: str, *settings: Any) -> str:
    target = os.path.abspath(sdist_directory)
    with _complete():
        return build_meta.build_sdist(target, *settings)


@contextmanager
def _complete() -> Iterator[None]:
    """Makes a folder the current one that has everything."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "python")
        shutil.copytree(HERE, copy, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "dist"))
        if not (copy / PACKAGE / "types.py").exists():
            _add_what_is_made(copy)
        os.chdir(copy)
        try:
            yield
        finally:
            os.chdir(before)


def _add_what_is_made(copy: Path) -> None:
    shutil.copy(REPOSITORY / "LICENSE", copy)
    shutil.copy(REPOSITORY / "docs/webhook-verifier/verify.py", copy / PACKAGE)
    node = [REPOSITORY / "node_modules/.bin/node", "--disable-warning=ExperimentalWarning"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*node, "tests/support/write-descriptions.ts", folder], cwd=REPOSITORY, check=True)
        description = json.loads(Path(folder, "openapi.json").read_text(encoding="utf-8"))
    for name, text in generate.modules(description).items():
        (copy / PACKAGE / name).write_text(text, encoding="utf-8")
