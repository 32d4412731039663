"""What to install where a package is missing that only some of the work needs."""

from __future__ import annotations


def install(extra: str) -> str:
    """The command that installs an extra of the distribution.

    Parameters
    ----------
    extra : str
        Its name in pyproject.toml; the file of its pins has the same name.
    """
    return f"pip install 'humanexp[{extra}]', or in a checkout pip install -r requirements/{extra}.txt"
