"""A sender that stands still between looking for its study and drafting it publishes no twin of it."""

from __future__ import annotations

from typing import Any

from humanexp.ledger.hit_calls import entry_url, terms_of
from humanexp.ledger.models import Call
from humanexp.recruiters.port import OfferOrder, WayBackCode
from humanexp.recruiters.registry import recruiter_for
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.studies.models import Study
from tests.panel.server import Lab
from tests.recruitment.panel_door import Door


def test_a_sender_stopped_between_looking_and_drafting_publishes_no_twin(
    lab: Lab, panel_door: Door, study: Study, settings: Any
) -> None:
    terms = LaunchTerms(to="panel", assignments=2, reward_cents=120, title="Pictures halted", estimated_minutes=5)
    campaign = publish(study=study, terms=terms)
    write = Call.objects.get()
    other = recruiter_for("panel")
    order = OfferOrder(
        terms_id=lab.project_id,
        places=2,
        lifetime_s=campaign.lifetime_s,
        url=entry_url(campaign),
        annotation=write.token,
        token=write.token,
        terms=terms_of(campaign, other),
        codes=tuple(
            WayBackCode(outcome=outcome, code=row.code, is_reviewed=row.action == "review")
            for outcome, row in campaign.site.codes.items()
        ),
        most_cents=write.cost_cents,
    )
    settings.PANEL_URL = panel_door.url
    stopped = recruiter_for("panel")
    published: list[str] = []
    panel_door.meanwhile = lambda: published.append(other.publish(order))
    assert [stopped.publish(order)] == published
    there = [one for one in lab.get(f"projects/{lab.project_id}/studies/")["results"] if one["id"]]
    assert [one["id"] for one in there if one["internal_name"] == write.token] == published
