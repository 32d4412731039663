"""Fetch the packages named in vendor.toml with npm, copy their files here and write down their digests.

    python static/vendor/fetch.py

Change a version in vendor.toml, run this, run the tests, commit. Users never need it: the files are in the repository.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tarfile
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
DECLARATION = HERE / "vendor.toml"


def main() -> None:
    packages = tomllib.loads(DECLARATION.read_text(encoding="utf-8"))["package"]
    for package in packages:
        target = HERE / f"{package['name']}-{package['version']}"
        with tempfile.TemporaryDirectory() as folder:
            packed = subprocess.run(  # noqa: S603  arguments come from the file beside this one
                ["npm", "pack", "--silent", f"{package['source']}@{package['version']}"],  # noqa: S607
                cwd=folder,
                check=True,
                capture_output=True,
                text=True,
            ).stdout.split()[-1]
            with tarfile.open(Path(folder) / packed) as archive:
                archive.extractall(folder, filter="data")
            target.mkdir(exist_ok=True)
            for file in package["files"]:
                shutil.copyfile(Path(folder) / "package" / file, target / file)
        package["sha256"] = {file: digest(target / file) for file in package["files"]}
    DECLARATION.write_text(declaration(packages), encoding="utf-8")


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def declaration(packages: list[dict[str, object]]) -> str:
    lines = [
        "# Foreign files that pages load, as published. fetch.py beside this file writes it; a test re-hashes them."
    ]
    for package in packages:
        files, digests = package["files"], package["sha256"]
        assert isinstance(files, list) and isinstance(digests, dict)  # noqa: S101  shape of our own file
        lines += ["", "[[package]]"]
        lines += [f'{key} = "{package[key]}"' for key in ("name", "version", "source", "licence")]
        lines.append(f"files = [{', '.join(f'{chr(34)}{file}{chr(34)}' for file in files)}]")
        lines += ["[package.sha256]", *[f'"{file}" = "{digests[file]}"' for file in files]]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
