"""What happens after the last answer: `[ending]` of a study file. Earlier versions asked and showed nothing there."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from analysis.spec.base import Earlier, InForm, Sparse
from analysis.spec.words import _

#: In the form: the default, and its opposite.
_ASKED = {"": _("ask (default)"), "no": _("do not ask")}


class Ending(Sparse):
    """Questions at the end, all of them optional, and what participants see of their own answers."""

    comments: Annotated[
        bool,
        Field(description="ask for comments; a person must clear each one before an export contains it"),
        InForm(
            _("Comments at the end"),
            help=_("Comments stay in Review. An export contains only those that you cleared one by one."),
            choices=_ASKED,
            part="texts",
        ),
        Earlier(4, False),
    ] = True
    problems: Annotated[
        bool,
        Field(description="ask whether anything went wrong, and what; the text is treated like a comment"),
        InForm(_("Ask whether anything went wrong"), choices=_ASKED, part="texts"),
        Earlier(4, False),
    ] = True
    device: Annotated[
        bool,
        Field(description="ask which kind of computer was used: desktop, laptop or something else"),
        InForm(_("Ask which kind of computer was used"), choices=_ASKED, part="texts"),
        Earlier(4, False),
    ] = True
    own_result: Annotated[
        bool,
        Field(
            description="after a person's last session of the family, offer a page that says in about how many of ten "
            "they were right: pictures that they named by amount of change, comparisons by what was right; it works "
            "for 30 days"
        ),
        InForm(
            _("Own result at the end"),
            help=_("Shares only, of no single picture; after the last session of the family."),
            choices={"": _("offer (default)"), "no": _("do not offer")},
            part="texts",
        ),
        Earlier(4, False),
    ] = True

    @classmethod
    def called(cls) -> str:
        return "[ending]"

    @property
    def questions(self) -> tuple[str, ...]:
        """Names of those that are asked, in the order of the page."""
        return tuple(name for name in ("problems", "comments", "device") if getattr(self, name))
