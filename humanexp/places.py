"""Where the platform and the marketplace keep what they write, when no setting says it."""

from __future__ import annotations

from pathlib import Path

#: Catalogues come with the package.
PACKAGE = Path(__file__).resolve().parent
#: The root of a checkout; of an installed product, the folder in which a command is given.
WORK = PACKAGE.parent if (PACKAGE.parent / "manage.py").is_file() else Path.cwd()


def shipped(name: str) -> Path:
    """Templates or static files: in the package where it is installed, beside manage.py in a checkout."""
    inside = PACKAGE / name
    return WORK / name if not inside.is_dir() and (WORK / "manage.py").is_file() else inside
