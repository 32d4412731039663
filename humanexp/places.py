"""Where the platform and the marketplace keep what they write, when no setting says it."""

from __future__ import annotations

from pathlib import Path

#: Templates, static files and catalogues come with the package.
PACKAGE = Path(__file__).resolve().parent
#: The root of a checkout; of an installed product, the folder in which a command is given.
WORK = PACKAGE.parent if (PACKAGE.parent / "manage.py").is_file() else Path.cwd()
