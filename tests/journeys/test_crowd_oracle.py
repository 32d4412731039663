"""People on the marketplace as the oracle: a picture that they refuse falls back to its predecessor."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tests.journeys.site import Site, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

#: Noise in half steps of its domain: none, half of it, nothing left to see.
SEARCH = (
    "counterfactuals", "--images", "drawings", "--classifier", "export:fixtures/classifiers/clean.pt2", "--generator",
    "corruption:gaussian_noise,step=0.5", "--oracle", "crowd:", "--scripted", "--answers", "2", "--pictures", "6",
    "--budget", "2", "--size", "112", "--name", "crowd", "--cap", "9000",
)  # fmt: skip
PEOPLE = 2


def test_people_judge_round_by_round_through_the_marketplace(site: Site) -> None:
    assert "6 pictures wait for people as the study crowd-step-0" in site.must(*SEARCH)
    site.must("publish", "crowd-step-0", "--to", "marketplace", "--assignments", str(PEOPLE))
    said = ""
    for step in range(3):
        study = f"crowd-step-{step}"
        wait_for(lambda name=study: _is_live(site, name), f"{study} on the marketplace", patience_s=120)
        site.must("simulate", study, "--participants", str(PEOPLE), "--mix", "careful=1", "--seed", "4")
        # Either the command takes the verdicts, or the job runner was there first.
        status, said = site.manage(*SEARCH)
        assert status == 0 or "judged already" in said, said
        wait_for(lambda at=step: _is_judged(site, at), f"the verdicts of {study}", patience_s=120)
    wait_for(
        lambda: site.platform("SELECT 1 FROM counterfactuals_searchrun WHERE completed_at IS NOT NULL"),
        "the end of the search", patience_s=120,
    )  # fmt: skip
    rows = site.platform("SELECT * FROM counterfactuals_counterfactual ORDER BY place")
    assert len(rows) == 6 and all(row["valid"] for row in rows)
    refused = [row for row in rows if row["ending"] == "refused"]
    assert refused, said
    keys = dict(site.platform("SELECT id, key FROM stimuli_sourceimage"))
    folder = Path(site.media_root) / "counterfactuals/crowd"
    for row in rows:
        key, step = keys[row["source_image_id"]], row["accepted_steps"]
        kept = (folder / f"pictures/{key}.png").read_bytes()
        assert hashlib.sha256(kept).hexdigest() == row["sha256"]
        assert kept == (folder / f"rounds/{step}/{key}.png").read_bytes()
        assert len(json.loads(row["losses"])) == step + 1
    assert all(row["accepted_steps"] < 2 for row in refused)


def _is_live(site: Site, study: str) -> bool:
    rows = site.platform(
        "SELECT h.hit_id FROM recruitment_hit h JOIN recruitment_campaign c ON h.campaign_id = c.id "
        "JOIN experiments_study s ON c.study_id = s.id WHERE s.slug = ?",
        study,
    )
    return bool(rows) and all(row["hit_id"] for row in rows)


def _is_judged(site: Site, step: int) -> bool:
    return bool(site.platform("SELECT 1 FROM counterfactuals_round WHERE step = ? AND state = 'judged'", step))
