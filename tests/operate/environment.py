"""A virtual environment that finds the packages of this one: python -m tests.operate.environment FOLDER.

The product itself is installed into it, by the document's command.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path


def main(folder: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages,) = folder.glob("lib/python3*/site-packages")
    (packages / "of-the-tests.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    pip = folder / "bin/pip"
    pip.write_text(f'#!/bin/sh\nexec {folder}/bin/python -m pip "$@"\n')
    pip.chmod(0o755)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
