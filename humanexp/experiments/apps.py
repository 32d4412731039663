from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from humanexp.core.navigation import StudyTab, register_study_tab


class ExperimentsConfig(AppConfig):
    name = "humanexp.experiments"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from humanexp.core import ownership
        from humanexp.experiments import handlers  # noqa: F401  (registers)
        from humanexp.experiments.answer_counts import ANSWERS
        from humanexp.experiments.drafting.sufficiency import answers_for
        from humanexp.experiments.live.figures import SESSIONS
        from humanexp.experiments.members import grant_by_role
        from humanexp.experiments.tallies import register_tally
        from humanexp.stimuli import sufficiency

        ownership.register(grant_by_role)
        sufficiency.register(answers_for)

        register_study_tab(StudyTab(key="design", label=_("Design"), url_name="experiments:design", order=20))
        register_study_tab(StudyTab(key="live", label=_("Sessions"), url_name="experiments:live", order=42))
        register_tally(ANSWERS)
        register_tally(SESSIONS)
