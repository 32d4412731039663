"""What a lab has before its first participant: pictures, stimuli, planned studies.

Run it as `python -m tests.journeys.prepare [--stimuli N] [STUDY.toml ...]`; MEDIA_ROOT says where.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import django

HERE = Path(__file__).parent
STUDIES = ("flow", "glance", "storm")
PER_CATEGORY, SIZE_PX = 3, 112
CORRUPTIONS = ("gaussian_noise", "gaussian_blur", "uniform_noise")
#: Of each; only those of main originals can be planned.
STIMULI = 140


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("studies", nargs="*", type=Path, default=[HERE / f"{name}.toml" for name in STUDIES])
    parser.add_argument("--stimuli", type=int, default=STIMULI)
    chosen = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "humanexp.settings")
    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from PIL import Image

    from analysis.examples.pictures import draw
    from analysis.labels.files import default_labels

    drawings = Path(settings.MEDIA_ROOT) / "drawings"
    for category in default_labels().ids:
        (drawings / category).mkdir(parents=True)
        for seed in range(PER_CATEGORY):
            Image.fromarray(draw(category, seed, SIZE_PX)).save(drawings / category / f"{seed}.png")
    call_command("migrate", verbosity=0)
    call_command("recruiter", "spending", "marketplace", "--limit", "none", "--everybody")
    call_command("import_images", drawings, name="drawings")
    call_command(
        "generate_stimuli",
        images="drawings",
        corruption=",".join(CORRUPTIONS),
        count=chosen.stimuli,
        size=SIZE_PX,
        name="small",
    )
    for study in chosen.studies:
        call_command("create_study", study)


if __name__ == "__main__":
    main()
