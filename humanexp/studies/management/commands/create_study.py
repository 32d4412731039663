from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from analysis.errors import AnalysisError
from analysis.study.rules import RULE_SETS, RuleSet, read_rule_set
from analysis.study.study import StudyConfiguration
from analysis.study.toml import in_file
from humanexp.core.commands import OwnedCommand
from humanexp.core.errors import ApplicationError
from humanexp.studies.services import create_study


class Command(OwnedCommand):
    help = "Plan a study from a study file (TOML) and store it as a draft."
    owned = "study it is"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE.toml")

    def handle(self, *args: Any, **options: Any) -> None:
        path = Path(options["file"])
        try:
            text = path.read_text(encoding="utf-8")
            configuration = StudyConfiguration.from_toml(text, source=path.name)
            rules = _rules_beside(configuration, path)
        except OSError as error:
            raise CommandError(f"{error.filename or path}: {error.strerror}.") from error
        except UnicodeDecodeError as error:
            raise CommandError(f"{path} is not UTF-8: save it as UTF-8.") from error
        try:
            study = create_study(configuration=configuration, by=options["owner"], rules=rules)
        except (ApplicationError, AnalysisError) as error:
            if not error.fields:
                raise
            raise CommandError(in_file(error, text, source=path.name)) from error
        for note in study.plan_notes:
            self.stdout.write(f"- {note}")
        self.stdout.write(
            self.style.SUCCESS(f"{study.slug}: {study.planned_sessions} sessions planned, digest {study.digest[:12]}")
        )
        if options["owner"] is None:
            self.stdout.write("It has no owner: an administrator sees it in the console, and invites one there.")


def _rules_beside(configuration: StudyConfiguration, path: Path) -> RuleSet | None:
    """A rule set of the lab's own is named relative to the study file, or by its whole path."""
    if configuration.rules in RULE_SETS or not configuration.rules.endswith(".toml"):
        return None
    return read_rule_set(path.parent / configuration.rules)
