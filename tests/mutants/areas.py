"""Which modules get mutants, and which tests have to notice them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_RECRUITMENT = "tests/recruitment"
#: Who may do what with every service.
_ROLES = "tests/attacks/test_roles.py"
_ACCESS = ("tests/console/test_access.py", "tests/attacks/test_rights.py", _ROLES)
_MONEY = (
    "test_attention.py",
    "test_bonus_calls.py",
    "test_bonuses.py",
    "test_budgets.py",
    "test_charges.py",
    "test_paying.py",
    "test_publishing.py",
    "test_sending.py",
    "test_settle_policy.py",
    "test_settling.py",
    "pages",
)
_SERVICES = ("counterfactuals", "evaluations", "jobs", "results", "stimuli", "studies")
#: Files of services that have no folder of their own.
_PARTICIPATION = ("answering", "endings", "openings", "places", "presentation", "sessions", "set_ups")


@dataclass(frozen=True)
class Suspects:
    """Modules, as patterns below the root, and files or folders of tests."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]

    def paths(self) -> list[str]:
        found = {path for pattern in self.modules for path in ROOT.glob(pattern)}
        return sorted(str(path.relative_to(ROOT)) for path in found if path.name != "__init__.py")


AREAS: dict[str, tuple[Suspects, ...]] = {
    "services": tuple(
        Suspects((f"humanexp/{app}/services.py", f"humanexp/{app}/services/**/*.py"), (f"tests/{app}", _ROLES))
        for app in _SERVICES
    )
    + (
        Suspects(
            tuple(f"humanexp/participation/{name}.py" for name in _PARTICIPATION), ("tests/participation", _ROLES)
        ),
    )
    + tuple(
        Suspects((f"humanexp/{package}/*.py",), (_RECRUITMENT, _ROLES)) for package in ("entry", "ledger", "recruiting")
    ),
    "rules": (
        Suspects(("analysis/acceptance/*.py",), ("tests/analysis/acceptance", "tests/screening")),
        Suspects(("humanexp/screening/services.py", "humanexp/screening/selectors.py"), ("tests/screening", _ROLES)),
    ),
    "money": (
        Suspects(
            ("humanexp/recruiters/money.py",),
            (f"{_RECRUITMENT}/test_pricing.py", f"{_RECRUITMENT}/test_budgets.py", f"{_RECRUITMENT}/pages"),
        ),
        Suspects(
            tuple(
                f"humanexp/ledger/{name}.py"
                for name in ("bonuses", "budgets", "reconciliation", "rejections", "settlement", "deliveries")
            ),
            (*(f"{_RECRUITMENT}/{name}" for name in _MONEY), _ROLES),
        ),
    ),
    "rights": (
        Suspects(("humanexp/studies/permissions.py", "humanexp/studies/models.py"), (*_ACCESS, "tests/studies")),
        Suspects(("humanexp/core/ownership.py",), (*_ACCESS, "tests/console/test_access_to_material.py")),
        Suspects(("humanexp/console/access.py",), (*_ACCESS, "tests/console/test_access_to_material.py")),
    ),
    "claims": (
        Suspects(("analysis/claims/*.py",), ("tests/analysis/claims",)),
        Suspects(("analysis/differences/*.py",), ("tests/analysis/differences", "tests/analysis/claims")),
    ),
}
