"""Lists of labels in the cells of tables: what a trial offers, what is right there, and what competes with it."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.labels.space import NO_ANSWER, NONE_OF_THESE, LabelSpace

#: Columns of trials that hold lists. `accepted` alone says there whether the session counts.
OPTIONS, ACCEPTED, COMPETING = "options", "accepted_labels", "competing"
LISTS = (OPTIONS, ACCEPTED, COMPETING)


def ids_in(cell: str) -> tuple[str, ...]:
    """The ids in a cell, separated by blanks; none in an empty one."""
    return tuple(cell.split())


def labels_offered(options: str) -> tuple[str, ...]:
    """The labels among the options: "none of these" is an answer, and no label."""
    return tuple(one for one in ids_in(options) if one != NONE_OF_THESE)


def right_among(options: str, accepted: str) -> int:
    """How many of the labels that a trial offers are right, at least 1; the category alone without a list."""
    offered, right = set(ids_in(options)), set(ids_in(accepted))
    return max(len(right & offered if offered else right), 1)


def fault_of(cells: Mapping[str, str], space: LabelSpace, *, none_offered: bool = True) -> tuple[str, str] | None:
    """What is wrong with the labels of one trial.

    Parameters
    ----------
    cells : mapping of str to str
        Texts of ``category``, ``response``, and the columns `LISTS`; a list that is not there is empty.
    space : LabelSpace
    none_offered : bool
        Whether "none of these" could be answered where a trial lists no options.

    Returns
    -------
    tuple of (str, str), or None
        The column at fault and a sentence about it; None where nothing is wrong.
    """
    lists = {name: ids_in(cells.get(name, "")) for name in LISTS}
    for name, ids in lists.items():
        known = (*space.ids, NONE_OF_THESE) if name == OPTIONS else space.ids
        strange = next((one for one in ids if one not in known), None)
        if strange is not None:
            return name, f"{strange!r} is none of the labels of {space.name}. Separate ids by blanks."
        if len(set(ids)) < len(ids):
            return name, f"{' '.join(ids)!r} names a label twice."
    return _wrong_options(cells, lists, none_offered=none_offered) or _wrong_rival(cells, lists)


def _wrong_options(
    cells: Mapping[str, str], lists: Mapping[str, tuple[str, ...]], *, none_offered: bool
) -> tuple[str, str] | None:
    options, accepted = lists[OPTIONS], lists[ACCEPTED]
    response, category = cells.get("response", ""), cells.get("category", "")
    if not options:
        if response == NONE_OF_THESE and not none_offered:
            return "response", f"{NONE_OF_THESE!r} was answered, and the study does not offer it."
        return None
    offered = labels_offered(cells[OPTIONS])
    if len(offered) < 2:
        return OPTIONS, f"{' '.join(options)!r} leaves nothing to choose. Two labels at least, or an empty cell."
    if response != NO_ANSWER and response not in options:
        return "response", f"{response!r} is not among the options {' '.join(options)}."
    if accepted and not set(accepted) & set(options):
        return ACCEPTED, f"none of {' '.join(accepted)} is among the options {' '.join(options)}: no answer is right."
    if set(offered) <= set(accepted):
        return ACCEPTED, f"every one of the options {' '.join(offered)} is right: the answer says nothing."
    if not accepted and category not in options:
        return "category", f"{category!r} is not among the options {' '.join(options)}: no answer is right."
    return None


def _wrong_rival(cells: Mapping[str, str], lists: Mapping[str, tuple[str, ...]]) -> tuple[str, str] | None:
    right = lists[ACCEPTED] or (cells.get("category", ""),)
    double = next((one for one in lists[COMPETING] if one in right), None)
    if double is None:
        return None
    return COMPETING, f"{double!r} is right there, too. Leave the cell empty where nothing competes."
