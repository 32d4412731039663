"""Pages as tests read them: the line breaks of a template are no part of a page."""

from __future__ import annotations

import re

#: Not every space: a number and its unit are kept together by others.
_SPACES = re.compile(r"[ \t\r\n]+")


def words(page: bytes | str) -> str:
    """The page in one line, with one space for each line break and what indents the next line."""
    return _SPACES.sub(" ", page.decode() if isinstance(page, bytes) else page)


def markup(page: bytes | str) -> str:
    """The same without a space beside a tag's brackets: an element and its content in one piece."""
    return re.sub(r" ?([<>]) ?", r"\1", words(page))
