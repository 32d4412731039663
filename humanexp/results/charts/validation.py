"""Pictures judged without a time limit: what people agree on, picture by picture."""

from __future__ import annotations

from analysis.figures.table import Column, Table
from analysis.findings.model.findings import Findings
from humanexp.core.errors import existing
from humanexp.results.charts.chart import Chart, only_chart

_OVERALL = {
    "people": "people who answered",
    "qualified": "of them qualified",
    "answers": "answers of qualified people",
    "agreement": "agreement on both questions",
    "agreement_shows": "agreement on what is shown",
    "agreement_usable": "agreement on what it can be used as",
    "mean_image_agreement": "mean agreement of a picture",
    "accepted_share": "share of pictures accepted",
    "accepted_share_one_coin": "share accepted, people weighed by one-coin EM",
    "decided_otherwise": "pictures on which the two decide otherwise",
}


def _build(findings: Findings, key: str) -> Chart:
    found = existing(findings.validation, "No pictures were judged in this study.")
    return Chart(
        key=key,
        title="What people agree on",
        figure=None,
        tables=(
            Table(
                "overall",
                "Agreement of qualified people",
                (Column("what", "What"), Column("value", "Value", "number")),
                tuple(
                    (_OVERALL[name], value) for name, value in found.overall if name in _OVERALL and value is not None
                ),
                (
                    f"A picture is accepted where more than {found.overall.threshold:g} of the answers say yes "
                    "to both.",
                    *findings.about_people,
                ),
            ),
            Table(
                "pictures",
                "Agreement by picture",
                (
                    Column("stimulus", "Picture"),
                    Column("wanted", "Wanted"),
                    Column("n", "Answers", "count"),
                    Column("shows", "Shows it", "number", 2),
                    Column("usable", "Could be used", "number", 2),
                    Column("yes_to_both", "Yes to both", "number", 2),
                    Column("agreement", "Agreement", "number", 2),
                    Column("accepted", "Accepted"),
                ),
                tuple(
                    (
                        one.stimulus,
                        one.wanted,
                        one.n,
                        one.shows,
                        one.usable,
                        one.yes_to_both,
                        one.agreement,
                        "yes" if one.accepted else "no",
                    )
                    for one in found.images
                ),
            ),
        ),
        definition=(
            "Agreement: share of the qualified answers that equal the majority. Qualified: the session counts.",
            "One-coin EM estimates each person's reliability and the pictures' truth together.",
        ),
    )


FAMILY = only_chart(
    "validation", "all pictures", lambda findings: findings.validation and findings.validation.images, _build
)
