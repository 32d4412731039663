from __future__ import annotations

from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "humanexp.jobs"

    def ready(self) -> None:
        from humanexp.core.metrics import register_source
        from humanexp.core.probes import register_look
        from humanexp.jobs.runner import figures, runner_problem

        register_look("runner", runner_problem)
        register_source(figures)
