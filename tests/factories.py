"""What tests are about: small pictures, studies of them, sessions, and a browser tab that answers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from io import BytesIO
from typing import Any

import numpy as np
from PIL import Image

from analysis.design.plan import StudyPlan
from analysis.labels.files import default_labels
from analysis.study.study import StudyConfiguration
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.participation.models import FINISHED, Session
from humanexp.participation.openings import Agreement, issue_token, open_session, participant_for
from humanexp.participation.sessions import minutes_of
from humanexp.stimuli.models import LabelSet, SourceImage, SourceSet, Stimulus, StimulusSet
from humanexp.studies import services
from humanexp.studies.models import Study

SIZE_PX = 24
FUNCTIONS = ("gaussian_blur", "gaussian_noise", "uniform_noise")
#: held for practice and plain pairs
PLAIN = ("brightness", "impulse_noise")


def png(number: int) -> bytes:
    """A small picture of its own for every number."""
    pixels = np.random.default_rng(number).integers(0, 256, (SIZE_PX, SIZE_PX, 3), dtype=np.uint8)
    stream = BytesIO()
    Image.fromarray(pixels).save(stream, format="PNG")
    return stream.getvalue()


@cache
def stored_png(number: int) -> tuple[str, str]:
    """Path under MEDIA_ROOT and digest of a picture, written once a run."""
    content, file = png(number), f"tests/pictures/{number:05d}.png"
    path = media_path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return file, hashlib.sha256(content).hexdigest()


def no_png(number: int) -> tuple[str, str]:
    """Path and digest of a picture that nobody will ask for."""
    return f"{number}.png", f"{number:064d}"


def whole_plan(study: Study) -> StudyPlan:
    """Every session of a study's stored plan."""
    return StudyPlan.from_lines(media_path(study.plan_file).read_text(encoding="utf-8").splitlines())


def make_stimulus_set(
    name: str = "pictures",
    *,
    per_category: int = 6,
    per_function: int = 96,
    functions: Sequence[str] = FUNCTIONS,
    plain: Sequence[str] = PLAIN,
    size_px: int = SIZE_PX,
    picture: Callable[[int], tuple[str, str]] = stored_png,
    labels: LabelSet | None = None,
) -> StimulusSet:
    """Originals of every label with clean pictures and stimuli of each function over the whole range.

    ``picture`` says where the file of a numbered stimulus is, and its digest: ``no_png`` where rows are enough.
    """
    source = SourceSet.objects.create(name=f"{name}-source", labels=labels)
    stimuli = StimulusSet.objects.create(
        name=name,
        source_set=source,
        corruptions=list(functions),
        plain_functions=list(plain),
        count_per_corruption=per_function,
        size_px=size_px,
        metric="vif-1",
        completed_at="2026-01-01T00:00:00Z",
    )
    images = SourceImage.objects.bulk_create(
        SourceImage(
            source_set=source,
            key=f"{category}-{number}",
            category=category,
            file=f"{name}/{category}-{number}.png",
            sha256=hashlib.sha256(f"{name}/{category}-{number}".encode()).hexdigest(),
        )
        for category in source.space.ids
        # As many pictures as there would be of 16 labels, where the suite runs with others.
        for number in range(per_category if labels else -(-16 * per_category // len(source.space)))
    )
    rows = [("none", image, 0.0) for image in images]
    # Through all originals, whatever their number.
    step = next(n for n in (7, 11) if len(images) % n)
    for function in functions:
        rows += [(function, images[(step * k) % len(images)], (k + 0.5) / per_function) for k in range(per_function)]
    rows += [(function, image, 0.6) for function in plain for image in images]
    made = []
    for number, (corruption, image, change) in enumerate(rows):
        file, sha256 = picture(number)
        made.append(
            Stimulus(
                stimulus_set=stimuli,
                key=f"{corruption}-{number:05d}",
                source_image=image,
                corruption=corruption,
                corruption_version="1",
                parameter=change,
                seed=number,
                visual_change=change,
                sha256=sha256,
                file=file,
            )
        )
    Stimulus.objects.bulk_create(made)
    return stimuli


#: Shape and texture of the cue conflicts that `add_sentinels` brings.
_IDS = default_labels().ids
PAIRS = tuple((_IDS[k % len(_IDS)], _IDS[(k + 1 + k // len(_IDS)) % len(_IDS)]) for k in range(3 * len(_IDS)))


def add_sentinels(
    stimuli: StimulusSet,
    *,
    conflicts: int = 24,
    families: Sequence[str] = (),
    picture: Callable[[int], tuple[str, str]] = stored_png,
) -> StimulusSet:
    """Cue conflicts from a set of their own, and a picture of each further family for every original."""
    brought = SourceSet.objects.create(name=f"{stimuli.name}-conflicts")
    images = SourceImage.objects.bulk_create(
        SourceImage(
            source_set=brought,
            key=f"{shape}-{shape}{number}-{texture}{number}",
            category=shape,
            file=f"{stimuli.name}/{number}.png",
            sha256=hashlib.sha256(f"{stimuli.name}/conflict-{number}".encode()).hexdigest(),
        )
        for number, (shape, texture) in enumerate(PAIRS[:conflicts])
    )
    shown = [("cue_conflict", image, 0.0) for image in images]
    shown += [(family, image, 0.9) for family in families for image in stimuli.source_set.images.order_by("key")]
    made = []
    for number, (family, image, change) in enumerate(shown, start=10_000):
        file, sha256 = picture(number)
        made.append(
            Stimulus(
                stimulus_set=stimuli,
                key=f"{number:016x}",
                source_image=image,
                corruption=family,
                corruption_version="1",
                parameter=0.0,
                seed=0,
                visual_change=change,
                sha256=sha256,
                file=file,
            )
        )
    Stimulus.objects.bulk_create(made)
    stimuli.cue_conflicts = brought
    stimuli.person_families = sorted({"cue_conflict", *families})
    stimuli.save(update_fields=["cue_conflicts", "person_families"])
    return stimuli


def configuration(**changes):
    """A study of 16 main trials a session on the small pictures."""
    values = {
        "title": "Small study",
        "stimuli": "pictures",
        "protocol": {"name": "vcr", "size_px": SIZE_PX},
        "design": {"sessions": 6, "main_trials": 16, "practice_trials": 4, "consistency_pairs": 2},
        "debrief": "It was about noise.",
    }
    return StudyConfiguration.from_dict({**values, **changes})


def draft_study(*, by: User | None = None, **changes: Any) -> Study:
    """A planned study on a stimulus set that is there; ``changes`` are those of its configuration."""
    return services.create_study(configuration=configuration(**changes), by=by)


def collecting_study(*, by: User | None = None, **changes: Any) -> Study:
    """The same, and it takes participants."""
    return services.start_collecting(study=draft_study(by=by, **changes), by=by)


def new_session(study, code="P-1", scripted=False):
    participant = participant_for(family=study.family, code=code, scripted=scripted)
    return open_session(study=study, participant=participant, scripted=scripted, agreement=Agreement(version="1"))


class Tab:
    """A browser tab: token, lease, and the calls that the page makes."""

    def __init__(self, client, session, lease="tab-00000001", token=None):
        self.client, self.lease = client, lease
        self.headers = {"Authorization": f"Bearer {token or issue_token(session=session)}"}

    def take_lease(self):
        return self.post("lease/", {"lease": self.lease})

    def get(self, path, **headers):
        return self.client.get(f"/api/v1/run/{path}", headers={**self.headers, "X-Lease": self.lease, **headers})

    def post(self, path, body, **headers):
        return self.client.post(
            f"/api/v1/run/{path}",
            body,
            content_type="application/json",
            headers={**self.headers, "X-Lease": self.lease, **headers},
        )

    def answer(self, position, response="dog", **more):
        return self.post("responses/", {"position": position, "response": response, "rt_ms": 812.5, **more})


def active_minutes(sessions: Iterable[int]) -> dict[int, float]:
    """How long people worked, by primary key; of finished sessions alone."""
    finished = Session.objects.filter(pk__in=list(sessions), state__in=FINISHED, completed_at__isnull=False)
    return minutes_of(dict(finished.values_list("pk", "active_s")))
