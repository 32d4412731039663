"""Nobody asks which recruiter it is: what one can do is asked, and its name stands in its adapter."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from humanexp.recruiters import registry

ROOT = Path(__file__).resolve().parents[2]
NAME = re.compile(r"mturk|mechanical[ -]turk|amazon|marketplace|prolific|cloudresearch|\bsona\b|is_link", re.IGNORECASE)
#: A stored code of one, compared with or chosen.
CODE = re.compile(
    r"""(?:[!=]=|environment=|\bto=|\bin [({\[])\s*["'](?:link|volunteer|sandbox|production|memory|connect)["']"""
)
#: Adapters with their words, sites of their own with their pages, what is frozen, and what others wrote.
APART = (
    *(f"humanexp/recruiters/{adapter}" for adapter in ("link.py", "mturk/", "presets/", "prolific/", "shipped.py")),
    # the port tells them apart in words, as does the list of what is known
    *(f"humanexp/recruiters/{port}.py" for port in ("port", "registry", "keys", "tickets", "memory")),
    "humanexp/sites/marketplace/",
    "humanexp/sites/panel/",
    "templates/marketplace/",
    "templates/panel/",
    "templates/recruitment/take/consent/",
    "static/vendor/",
    "static/js/marketplace/",
)
#: The sites that this distribution brings along have to be started, watched, tried out and given keys by somebody.
OF_THE_SITE = {
    "humanexp/addresses.py",
    "humanexp/console/archives/shelf.py",
    "humanexp/console/demo_steps.py",
    "humanexp/console/doctor_checks.py",
    "humanexp/console/management/commands/demo.py",
    "humanexp/console/management/commands/marketplace.py",
    "humanexp/console/management/commands/panel.py",
    "humanexp/console/management/commands/simulate.py",
    "humanexp/console/scripted_participants.py",
    "humanexp/console/sites.py",
    "humanexp/health.py",
    "humanexp/processes.py",
    "humanexp/places.py",
    "humanexp/settings.py",
    "humanexp/simulation/browser.py",
    "humanexp/simulation/participant.py",
}
#: Others that say such a word, and mean something else by it.
MEANT_OTHERWISE = {
    "analysis/study/link.py": "the presets of links that a study file can name",
    "humanexp/studies/facts.py": "facts.is_link: how a person came, not through whom",
    "humanexp/entry/pages.py": "the same fact, told to the page",
    "templates/recruitment/take/_device.html": "the same fact",
    "templates/recruitment/take/_small.html": "the same fact",
}


def sources() -> Iterator[str]:
    for folder in ("analysis", "humanexp"):
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix in (".py", ".html", ".js", ".css", ".sh") and "/migrations/" not in name:
                yield name


def said(name: str) -> list[str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return [f"{name}:{n}: {line.strip()}" for n, line in enumerate(lines, 1) if NAME.search(line) or CODE.search(line)]


def test_no_recruiter_is_named_outside_its_adapter() -> None:
    known = OF_THE_SITE | set(MEANT_OTHERWISE)
    found = [line for name in sources() if name not in known and not name.startswith(APART) for line in said(name)]
    assert found == []


@pytest.mark.parametrize("name", sorted(OF_THE_SITE | set(MEANT_OTHERWISE)))
def test_every_exception_is_one(name: str) -> None:
    assert said(name), f"{name} names no recruiter any more: take it off the list"


@pytest.mark.parametrize(
    "line",
    [
        'if campaign.environment == "link":',
        "if (to === 'sandbox') {",
        "{% if campaign.is_link %}",
        'rows.exclude(environment="production")',
        "a study on Prolific",
        'LaunchTerms(to="link")',
    ],
)
def test_what_counts_as_a_name(line: str) -> None:
    assert NAME.search(line) or CODE.search(line)


#: Where a kind's code stands outside its adapter, and why.
SAID_ELSEWHERE = {
    "humanexp/console/demo_steps.py": "the demo starts both sites, and launches by a link",
    "humanexp/console/doctor_checks.py": "folders of both sites, which this machine may run",
    "humanexp/console/management/commands/demo.py": "the demo starts both sites",
    "humanexp/console/scripted_participants.py": "how a person comes, not through whom",
    "humanexp/console/sites.py": "processes are called like the sites that they serve",
    "humanexp/core/pages/accounts.py": "the link of an invitation",
    "humanexp/core/pages/organisation.py": "an account is linked to a sign-in",
    "humanexp/core/accounts.py": "a link to a new password",
    "humanexp/entry/api.py": "a personal link back",
    "humanexp/ledger/terms.py": "the table of a study file",
    "humanexp/recruiting/people.py": "the same table",
    "humanexp/recruiting/models.py": "a personal link back",
    "humanexp/recruiting/pages/people.py": "the same",
    "humanexp/recruitment/urls.py": "the address of the public page",
    "humanexp/results/pages/views.py": "a part of a page",
    "humanexp/results/urls.py": "its address",
    "humanexp/studies/facts.py": "how a person came, not through whom",
    "humanexp/studies/tasks.py": "where more stands about a thing",
}
ADAPTERS = tuple(f"humanexp.recruiters.{name}" for name in ("link", "mturk", "prolific", "memory", "shipped"))


def core_modules(*endings: str) -> Iterator[str]:
    apart = ("analysis/", "humanexp/recruiters/", "humanexp/sites/")
    return (name for name in sources() if name.endswith(endings) and not name.startswith(apart))


def test_no_module_knows_one_recruiter() -> None:
    codes = {kind.code for kind in registry.kinds()} | {"memory"}
    naming, importing = set(), set()
    for name in core_modules(".py"):
        for node in ast.walk(ast.parse((ROOT / name).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in codes:
                naming.add(name)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(ADAPTERS):
                importing.add(name)
    assert importing == set(), "a class of one recruiter: what it can do is asked"
    assert naming == set(SAID_ELSEWHERE)


#: What core code may ask of a recruiter, and pages may not: they are given words, and what is offered.
NOT_ON_PAGES = re.compile(r"\b(capabilities|can)\.pays\b|\b(vouches|is_public)\b")


def test_pages_have_words_and_do_not_ask_who_a_recruiter_is() -> None:
    pages = (name for name in core_modules(".html", ".py") if re.search(r"\.html$|/pages(/|\.py$)", name))
    assert [name for name in pages if NOT_ON_PAGES.search((ROOT / name).read_text(encoding="utf-8"))] == []


def test_every_recruiter_has_what_pages_and_rows_need_of_it() -> None:
    for kind in registry.kinds():
        assert str(kind.name) and kind.namespace
        assert len(kind.code) <= 12  # as long as the columns that store it
        assert kind.frames <= bool(kind.origins), f"{kind.code} shows frames from nowhere"
        assert kind.capabilities.vouches == bool(kind.address), f"{kind.code}: who vouches answers somewhere"
