"""What pages and refusals say of recruiters."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Words:
    """What the console says of launches through a recruiter, and of its accounts."""

    #: what the price of a launch is
    price: str = "if every place is taken and paid"
    #: the button, and what it has done
    launch: str = "Launch for %(total)s"
    launched: str = "Launched on %(name)s."
    #: what an approval means; empty: nobody is paid through it
    approval: str = (
        "An approval is a debt. You pay it out in your own way, and write that down at the recruiter's desk."
    )
    #: why it needs no account; empty: it needs one
    no_account: str = ""


#: Of those that pay people themselves.
PAYS_OUT = Words(approval="An approval pays the person: the recruiter hands the money out and charges the account.")


#: What a launch can ask and not every kind has, as refusals name it, with the option of the command.
OPTIONS = {
    "hits": "the number of places in a HIT (--per-hit)",
    "keywords": "keywords",
    "approval_percent": "a least share of approved work (--approval)",
    "hits_approved": "a least number of approved HITs (--approved-hits)",
    "countries": "countries of people (--countries)",
    "adult": "people who say to be of age (--adult)",
    "masters": "Masters only (--masters)",
    "age_from": "a least age",
    "age_to": "a greatest age",
    "languages": "languages of people",
    "good_vision": "the sight of people",
    "balanced_sex": "as many women as men",
    "took_part_in": "only who began certain studies",
    "not_in": "only who began none of certain studies",
    "only_people": "a list of people who alone may take part",
    "not_people": "a list of people who may not take part",
    "link_preset": "a site whose people come by a link",
    "compared_with": "curves of another study that people see next to their own (--compared-with)",
}
