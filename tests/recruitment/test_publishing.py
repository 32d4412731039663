"""HITs are published and stopped through the outbox: replies are lost, and no HIT is made twice."""

from __future__ import annotations

from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from humanexp.core import clock
from humanexp.ledger.models import Call, Payment
from humanexp.ledger.settlement import settle
from humanexp.recruiters.models import Campaign
from humanexp.recruiters.states import HitState, WriteState
from humanexp.recruiting.alerts import attention
from humanexp.recruiting.extension import stop
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.polling import sync
from humanexp.recruitment.jobs import run_sync
from tests.marketplace.server import MarketplaceServer
from tests.recruitment.outbox import FAULTS, Launch, NewWorker, send, submitted


def hits_titled(other_side: Any, campaign: Campaign) -> list[dict[str, Any]]:
    pages = other_side.get_paginator("list_hits").paginate(MaxResults=100)
    return [hit for page in pages for hit in page["HITs"] if hit["Title"] == campaign.title]


class TestPublishing:
    def test_hits_are_published_on_the_terms_that_were_shown(
        self, launch: Launch, other_side: Any, settings: Any
    ) -> None:
        campaign = launch(assignments=11, reward_cents=120)
        assert [hit.max_assignments for hit in campaign.hits.all()] == [9, 2]
        assert {hit.state for hit in campaign.hits.all()} == {HitState.OPEN}
        found = hits_titled(other_side, campaign)
        assert sorted(hit["MaxAssignments"] for hit in found) == [2, 9]
        for hit in found:
            assert hit["Reward"] == "1.20"
            assert hit["AutoApprovalDelayInSeconds"] == 3 * 86_400
            assert f"{settings.PUBLIC_URL}/take/{campaign.entry}/" in hit["Question"]
        assert len({hit["HITTypeId"] for hit in found}) == 1

    @pytest.mark.parametrize("fault", FAULTS)
    def test_a_lost_reply_makes_no_second_hit(
        self, marketplace: MarketplaceServer, launch: Launch, other_side: Any, fault: str
    ) -> None:
        marketplace.arm("CreateHITWithHITType", fault)
        campaign = launch()
        if fault != "throttle":  # a throttled write is tried again in the same round, at its next turn
            assert campaign.hits.get().state == HitState.PLANNED
            assert Call.objects.get().state == WriteState.SENDING
        report = send()
        assert (report.confirmed, report.waiting) == (1, 0)
        [hit] = hits_titled(other_side, campaign)
        assert campaign.hits.get().hit_id == hit["HITId"]
        assert Call.objects.get().state == WriteState.CONFIRMED

    def test_a_lost_reply_to_the_hit_type_is_harmless(
        self, marketplace: MarketplaceServer, launch: Launch, other_side: Any
    ) -> None:
        marketplace.arm("CreateHITType", "drop_after_commit")
        campaign = launch()
        send()
        assert len(hits_titled(other_side, campaign)) == 1

    def test_another_databases_hit_is_not_taken_for_ours(self, launch: Launch, other_side: Any) -> None:
        campaign = launch()
        write = Call.objects.get()
        assert hits_titled(other_side, campaign)[0]["RequesterAnnotation"] == write.token
        assert len(write.token.rpartition("-")[2]) == 16


class TestStopping:
    def test_stop_expires_every_hit_and_who_has_begun_is_paid(
        self, launch: Launch, new_worker: NewWorker, other_side: Any
    ) -> None:
        campaign = launch(assignments=3, assignments_per_hit=1)
        worker = new_worker()
        under_way = worker.accept(campaign, 2)
        stop(study=campaign.study)
        assert send().confirmed == 3
        campaign.refresh_from_db()
        assert campaign.state == "stopped"
        assert new_worker().client.try_accept(campaign.hits.first().hit_id).status_code == 409
        assert under_way.open().status_code == 201
        worker.submit(under_way, under_way.answer_all()["receipt"])
        assert sync(study=campaign.study).submitted == 1
        settle(study=campaign.study)
        assert send().confirmed == 1

    @pytest.mark.parametrize("fault", FAULTS)
    def test_a_lost_reply_to_an_expiry(self, marketplace: MarketplaceServer, launch: Launch, fault: str) -> None:
        campaign = launch()
        stop(study=campaign.study)
        marketplace.arm("UpdateExpirationForHIT", fault)
        send()
        send()
        campaign.refresh_from_db()
        assert campaign.state == "stopped"

    def test_a_refused_stop_is_told_and_tried_again_and_nothing_else_is_done_twice(
        self, marketplace: MarketplaceServer, launch: Launch, new_worker: NewWorker, other_side: Any
    ) -> None:
        campaign = launch(assignments=3, assignments_per_hit=1)
        paid = submitted(campaign, new_worker)[0]
        settle(study=campaign.study)
        stop(study=campaign.study)
        marketplace.arm("UpdateExpirationForHIT", "refused", times=3)
        assert send().refused == 3
        campaign.refresh_from_db()
        assert campaign.state == "stopping"  # people can still take two of its places
        marketplace.arm("UpdateExpirationForHIT", "refused", times=1)
        run_sync(progress=lambda *_: None)
        campaign.refresh_from_db()
        [told] = [one for one in attention(campaign.study) if one.kind == "open-hit"]
        assert (campaign.state, told.count, told.severity) == ("stopping", 1, "bad")
        assert "can still be taken" in told.text and "every minute" in told.remedy
        run_sync(progress=lambda *_: None)
        campaign.refresh_from_db()
        assert campaign.state == "stopped"
        assert not [one for one in attention(campaign.study) if one.kind == "open-hit"]
        found = hits_titled(other_side, campaign)
        assert [hit["HITStatus"] for hit in found] == ["Reviewable"] * 3
        rewards = Payment.objects.get(assignment=paid)
        assert (rewards.state, rewards.attempts) == (WriteState.CONFIRMED, 1)
        creations = Call.objects.filter(kind="create")
        assert set(creations.values_list("state", "attempts")) == {(WriteState.CONFIRMED, 1)}

    def test_a_hit_that_somebody_ended_by_hand_needs_no_stop_any_more(
        self, marketplace: MarketplaceServer, launch: Launch, other_side: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        campaign = launch()
        stop(study=campaign.study)
        marketplace.arm("UpdateExpirationForHIT", "refused")
        send()
        hit_id = campaign.hits.get().hit_id
        other_side.update_expiration_for_hit(HITId=hit_id, ExpireAt=datetime(2015, 1, 1))
        # the marketplace's clock may have been moved ahead of ours
        ended = other_side.get_hit(HITId=hit_id)["HIT"]["Expiration"]
        monkeypatch.setattr(clock, "system_clock", SimpleNamespace(now=lambda: max(ended, timezone.now())))
        marketplace.arm("UpdateExpirationForHIT", "refused")
        run_sync(progress=lambda *_: None)
        campaign.refresh_from_db()
        assert campaign.state == "stopped"

    def test_a_hit_that_was_never_sent_is_not_published(
        self, marketplace: MarketplaceServer, study: Any, other_side: Any
    ) -> None:
        campaign = publish(
            study=study, terms=LaunchTerms(to="marketplace", assignments=2, reward_cents=1, title="Never sent")
        )
        stop(study=study)
        campaign.refresh_from_db()
        assert (campaign.state, campaign.hits.get().state) == ("stopped", HitState.CANCELLED)
        assert send().confirmed == 0
        assert hits_titled(other_side, campaign) == []

    def test_a_stop_while_the_reply_to_the_publishing_is_lost(
        self, marketplace: MarketplaceServer, launch: Launch, other_side: Any
    ) -> None:
        marketplace.arm("CreateHITWithHITType", "drop_after_commit")
        campaign = launch()
        stop(study=campaign.study)
        send()
        campaign.refresh_from_db()
        assert campaign.state == "stopped"
        [hit] = hits_titled(other_side, campaign)
        assert hit["HITStatus"] == "Reviewable"  # expired, with nobody at work

    def test_a_stop_before_a_publishing_that_never_arrived(
        self, marketplace: MarketplaceServer, launch: Launch, other_side: Any
    ) -> None:
        marketplace.arm("CreateHITWithHITType", "drop_before")
        campaign = launch()
        stop(study=campaign.study)
        assert send().waiting == 2  # it may still appear
        Call.objects.filter(kind="create").update(first_sent_at=timezone.now() - timedelta(minutes=11))
        send()
        campaign.refresh_from_db()
        assert (campaign.state, campaign.hits.get().state) == ("stopped", HitState.CANCELLED)
        assert hits_titled(other_side, campaign) == []
