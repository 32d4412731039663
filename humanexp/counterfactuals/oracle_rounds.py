"""People as the oracle: pictures of a step become a study of validation, and its verdicts the next step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.spec.study import StudyConfiguration
from humanexp.core.errors import ApplicationError
from humanexp.counterfactuals import search_run, services
from humanexp.counterfactuals.models import Round, RoundState, SearchRun
from humanexp.counterfactuals.round_pictures import make_stimuli
from humanexp.counterfactuals.services.rounds import open_round
from humanexp.counterfactuals.verdicts import verdicts_on
from humanexp.jobs.registry import Progress
from humanexp.recruitment.models import Campaign, Environment
from humanexp.studies import services as studies
from humanexp.studies.models import Population, Study

if TYPE_CHECKING:
    from analysis.counterfactuals.shards import Proposal

#: New pictures a session, as in ImageNet-D.
_PICTURES_A_SESSION = 16


def open_first(run: SearchRun, progress: Progress) -> Round:
    """Make the pictures of step 0, and the study that has them judged."""
    from analysis.counterfactuals.shards import open_rounds

    shards = search_run.prepare(run)
    proposals: list[Proposal] = []
    for number, shard in enumerate(shards):
        progress(number, len(shards), "batches of pictures made")
        proposals += open_rounds(shard)
    return _opened(run, proposals, progress)


@dataclass(frozen=True)
class Following:
    """The next round, None when every picture has left; and why nobody is asked yet, empty where people are."""

    opened: Round | None
    waits: str = ""


def go_on(judged: Round, progress: Progress) -> Following:
    """Close a round by its verdicts and open the next; when every picture has left, the search is scored."""
    from analysis.counterfactuals.shards import next_round

    run = judged.run
    if judged.state == RoundState.OPEN:
        services.close_round(one=judged, verdicts=verdicts_on(judged).by_key)
    accepted = {key: bool(votes["accepted"]) for key, votes in judged.verdicts.items()}
    shards = [
        shard
        for shard in search_run.prepare(run)
        if any(original.key in judged.verdicts for original in shard.originals)
    ]
    proposals: list[Proposal] = []
    for number, shard in enumerate(shards):
        progress(number, len(shards), "batches of pictures made")
        following, records = next_round(shard, judged.step, accepted)
        services.store_records(run=run, records=records)
        proposals += following
    if not proposals:
        search_run.finish(run)
        return Following(None)
    opened = _opened(run, proposals, progress)
    return Following(opened, _publish_like(judged, opened))


def _opened(run: SearchRun, proposals: list[Proposal], progress: Progress) -> Round:
    step = proposals[0].step
    stimulus_set, names = make_stimuli(run, proposals, progress)
    study = Study.objects.filter(slug=stimulus_set.name).first()
    if study is None:
        configuration = _configuration(run, stimulus_set.name, step, len(names))
        study = studies.create_study(configuration=configuration, by=run.created_by)
    return open_round(run=run, step=step, study=study, stimuli={p.key: names[p.key] for p in proposals})


def _configuration(run: SearchRun, name: str, step: int, n_pictures: int) -> StudyConfiguration:
    sessions = -(-n_pictures // _PICTURES_A_SESSION) * run.answers_per_picture
    return StudyConfiguration.from_dict(
        {
            "title": f"Is this really one? Pictures of {run.name}, step {step}",
            "slug": name,
            # One family: nobody judges two steps of one picture.
            "family": f"{run.name}-rounds",
            "stimuli": name,
            "population": run.population,
            "protocol": {"name": "vcr", "size_px": run.size_px},
            "seed": run.seed + step,
            "design": {
                "sessions": sessions,
                "validation": {"shown": "corrupted", "answers_per_picture": run.answers_per_picture},
            },
        }
    )


def _publish_like(judged: Round, opened: Round) -> str:
    """Publish the next round where the last one went, on the same terms; else the reason why a person has to."""
    latest = Campaign.objects.filter(study=judged.study).order_by("-pk").first()
    if latest is None or Campaign.objects.filter(study=opened.study).exists():
        return ""
    if latest.environment in (Environment.SANDBOX, Environment.PRODUCTION):
        return "The next round is ready: a person must confirm what it costs."
    try:
        services.publish_round(
            one=opened,
            to=latest.environment,
            reward_cents=latest.reward_cents,
            # A round of scripted people has nobody whom a rehearsal would protect.
            skip_preflight=opened.study.population == Population.SCRIPTED,
        )
    except ApplicationError as error:
        return error.message
    return ""
