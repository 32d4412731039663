"""Who may do what in a study: five roles, and what each of them may do. The one table of the house."""

from __future__ import annotations

from collections.abc import Mapping

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class Role(TextChoices):
    """What a researcher is in one study."""

    OWNER = "owner", _("owner")
    RESEARCHER = "researcher", _("researcher")
    REVIEWER = "reviewer", _("reviewer")
    PAYER = "payer", _("payer")
    VIEWER = "viewer", _("viewer")


class Action(TextChoices):
    """What can be done in a study."""

    SEE = "see", _("see design, progress and results")
    TRY = "try", _("take it themselves")
    DESIGN = "design", _("change the design")
    CHECK = "check", _("run the pre-flight check")
    LAUNCH = "launch", _("launch, extend, set caps, write to participants")
    STOP = "stop", _("stop everything")
    EVIDENCE = "evidence", _("see single submissions, payments and worker ids")
    REVIEW = "review", _("decide whether sessions count")
    REJECT = "reject", _("reject a submission")
    PAY = "pay", _("pay")
    ANALYSE = "analyse", _("run analyses")
    EXPORT = "export", _("take the answers away as files")
    AUDIT = "audit", _("read who did what")
    MEMBERS = "members", _("invite and remove people")


_EVERYBODY = frozenset(Role)
_MAKERS = frozenset({Role.OWNER, Role.RESEARCHER})

MAY: Mapping[Action, frozenset[Role]] = {
    Action.SEE: _EVERYBODY,
    Action.TRY: _EVERYBODY,
    Action.DESIGN: _MAKERS,
    Action.CHECK: _MAKERS,
    Action.LAUNCH: _MAKERS,
    # In an emergency whoever handles people or money can end it.
    Action.STOP: _EVERYBODY - {Role.VIEWER},
    Action.EVIDENCE: _EVERYBODY - {Role.VIEWER},
    Action.REVIEW: _MAKERS | {Role.REVIEWER},
    Action.REJECT: frozenset({Role.OWNER, Role.REVIEWER}),
    Action.PAY: frozenset({Role.OWNER, Role.PAYER}),
    Action.ANALYSE: _MAKERS,
    Action.EXPORT: _MAKERS,
    Action.AUDIT: _EVERYBODY - {Role.VIEWER},
    Action.MEMBERS: frozenset({Role.OWNER}),
}

#: What a person reads who chooses a role for somebody.
MEANING: Mapping[Role, object] = {
    Role.OWNER: _("Everything, and who else takes part."),
    Role.RESEARCHER: _("Designs, checks, launches, stops, reviews, analyses and exports. Does not pay."),
    Role.REVIEWER: _("Decides which sessions count, and rejects submissions."),
    Role.PAYER: _("Pays, and sees what is paid for."),
    Role.VIEWER: _("Looks at everything but single people, and takes nothing away."),
}
