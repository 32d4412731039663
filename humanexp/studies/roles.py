"""Who may do what in a study: five roles, and what each of them may do. The one table of the house."""

from __future__ import annotations

from collections.abc import Mapping

from django.db.models import TextChoices


class Role(TextChoices):
    """What a researcher is in one study."""

    OWNER = "owner", "owner"
    RESEARCHER = "researcher", "researcher"
    REVIEWER = "reviewer", "reviewer"
    PAYER = "payer", "payer"
    VIEWER = "viewer", "viewer"


class Action(TextChoices):
    """What can be done in a study."""

    SEE = "see", "see design, progress and results"
    TRY = "try", "take it themselves"
    DESIGN = "design", "change the design"
    CHECK = "check", "run the pre-flight check"
    LAUNCH = "launch", "launch, extend, set caps, write to participants"
    STOP = "stop", "stop everything"
    EVIDENCE = "evidence", "see single submissions, payments and worker ids"
    REVIEW = "review", "decide whether sessions count"
    REJECT = "reject", "reject a submission"
    PAY = "pay", "pay"
    ANALYSE = "analyse", "run analyses"
    EXPORT = "export", "take the answers away as files"
    AUDIT = "audit", "read who did what"
    MEMBERS = "members", "invite and remove people"


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
    Role.OWNER: "Everything, and who else takes part.",
    Role.RESEARCHER: "Designs, checks, launches, stops, reviews, analyses and exports. Does not pay.",
    Role.REVIEWER: "Decides which sessions count, and rejects submissions.",
    Role.PAYER: "Pays, and sees what is paid for.",
    Role.VIEWER: "Looks at everything but single people, and takes nothing away.",
}
