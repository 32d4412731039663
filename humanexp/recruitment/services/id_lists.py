"""Lists of people's ids from elsewhere: one id a line, or a table of which one column holds them."""

from __future__ import annotations

import re

from analysis.tables import read_cells, text_of
from humanexp.core.errors import InputRefused
from humanexp.recruitment.recruiters.presets import presets

#: How columns of people's ids are called, letters and digits alone, beside the names that sites have for them.
_HEADER = re.compile(r".*(participantid|workerid)|pid|id|participant|worker")
#: Forms that large sites give their ids; where most of a list have one of them, all must.
_FORMS = (re.compile(r"[0-9a-f]{24}"), re.compile(r"A[A-Z0-9]{8,20}"))
_ANY = re.compile(r".*", re.DOTALL)
#: What a spreadsheet makes of a long number.
_ROUNDED = re.compile(r"\d([.,]\d+)?E\+\d+", re.IGNORECASE)


def ids_of(content: bytes, source: str) -> list[str]:
    """The ids of a list, in order, without its header.

    Raises
    ------
    InputRefused
        Naming the line: of a table without a column of ids, of a number that a spreadsheet has rounded, of what can
        only be a header. An id is never repeated in a message.
    TableRefused
        If it is no text.
    """
    lines = [line.strip() for line in text_of(content, source=source).splitlines() if line.strip()]
    if any(re.search(r"[,;|\t]", line) for line in lines):
        table = read_cells(content, source=source)
        named = [name for name in table.names if is_id_column(name)]
        if len(named) != 1:
            said = f"{' and '.join(named)} can both hold the ids" if named else "no column is known to hold ids"
            raise InputRefused(f"{source}: {said}. Keep one column: one id a line.")
        ids = [record[named[0]] for record in table.records()]
    else:
        ids = lines[1:] if lines and is_id_column(lines[0]) else lines
        is_word = len(ids) > 2 and not re.search(r"\d", ids[0]) and not any(form.fullmatch(ids[0]) for form in _FORMS)
        if is_word and all(re.search(r"\d", one) for one in ids[1:]):
            raise InputRefused(
                f"{source}, line 1: this seems to be a header, not an id. If it is one, remove the line; if it "
                "is an id, put it behind the others."
            )
    usual = next((form for form in _FORMS if 2 * sum(map(bool, map(form.fullmatch, ids))) > len(ids)), _ANY)
    for number, one in enumerate(ids, start=1):
        if not usual.fullmatch(one) and not _ROUNDED.fullmatch(one):
            raise InputRefused(f"{source}, id {number}: it has another form than the others. Correct or remove it.")
        if _ROUNDED.fullmatch(one):
            raise InputRefused(f"{source}, id {number}: a spreadsheet has rounded it. Export the list again as text.")
    return ids


def is_id_column(name: str) -> bool:
    """Whether a column of this name holds people's ids."""
    known = {_plain(site.parameters["person"]) for site in presets().values()}
    return _plain(name) in known or _HEADER.fullmatch(_plain(name)) is not None


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()
