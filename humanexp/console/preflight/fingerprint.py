"""What a pre-flight was about: the study, its stimuli, the recruiter. Another fingerprint makes a result stale."""

from __future__ import annotations

import hashlib
import json
import os

from django.conf import settings
from django.db.models import Count, Max

from humanexp.experiments.models import Study
from humanexp.recruitment.models import Environment


def fingerprint_of(study: Study, to: str) -> str:
    """SHA-256 over what could change between the check and the launch."""
    told = json.dumps([_study(study), _stimuli(study), _recruiter(to)], sort_keys=True, default=str)
    return hashlib.sha256(told.encode()).hexdigest()


def _study(study: Study) -> list[object]:
    return [study.pk, study.digest, study.plan_digest, study.rule_set, study.title]


def _stimuli(study: Study) -> object:
    if study.stimulus_set is None:
        return None
    digest = hashlib.sha256()
    for sha256 in study.stimulus_set.stimuli.order_by("pk").values_list("sha256", flat=True).iterator():
        digest.update(sha256.encode())
    counts = study.stimulus_set.stimuli.aggregate(count=Count("pk"), last=Max("pk"))
    return [study.stimulus_set_id, counts, digest.hexdigest()]


def _recruiter(to: str) -> list[object]:
    keys = {
        Environment.MARKETPLACE.value: [settings.MARKETPLACE_URL, settings.MARKETPLACE_ACCESS_KEY_ID],
        Environment.SANDBOX.value: [settings.MTURK_SANDBOX_URL, *_amazon_keys()],
        Environment.PRODUCTION.value: [settings.MTURK_PRODUCTION_URL, *_amazon_keys()],
    }
    return [to, settings.PUBLIC_URL, settings.RECRUITER_ORIGINS, *keys.get(to, [])]


def _amazon_keys() -> list[str]:
    return [os.environ.get("AWS_ACCESS_KEY_ID", ""), os.environ.get("AWS_PROFILE", "")]
