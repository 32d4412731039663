"""Every address that is no study's, called by everybody: who gets in stands in a table written by hand.

Addresses of studies have their table in test_access.py. Whoever calls as a member has made a study of their own, from
which nothing follows for the house.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from humanexp.core.accounts import set_house_role
from humanexp.core.models import HouseRole, User
from tests.factories import draft_study, make_stimulus_set

pytestmark = pytest.mark.django_db

CALLERS = ("anonymous", "member", "treasurer", "administrator")
#: Who is let in: everybody from the one who is named on.
FROM: dict[str, str] = {
    # people who take part, and whoever has lost a password; a token or a signature is asked for by the views
    "anonymous": """
        login account_login mfa_login_webauthn organisation mfa_authenticate
        new-password forgotten-password logout schema
        participation:run participation:own-result participation:card
        recruitment:volunteer recruitment:volunteer-study recruitment:take recruitment:consent recruitment:run
        recruitment:inside recruitment:open recruitment:resume recruitment:personal recruitment:follow
        recruitment:delete recruitment:handoff recruitment:finish recruitment:decline
        recruitment:way-out recruitment:hook
    """,
    # whoever has no token of a participant, no password or second factor to confirm with, and has not begun to sign in
    "nobody": """
        organisation-back account_reauthenticate mfa_reauthenticate mfa_reauthenticate_webauthn
        participation:run-session participation:run-lease participation:run-withdraw participation:run-status
        participation:run-responses participation:run-setup participation:run-complete participation:run-closing
        participation:run-pictures participation:run-stimulus participation:run-question participation:run-mask
        participation:preview-session participation:preview-lease participation:preview-withdraw
        participation:preview-status participation:preview-responses participation:preview-setup
        participation:preview-complete participation:preview-closing participation:preview-skip
        participation:preview-pictures participation:preview-stimulus participation:preview-question
        participation:preview-mask recruitment:run-deletion
    """,
    # a one-time secret in the body; without it they say that it is over
    "secret": """
        participation:run-handoff participation:run-look participation:preview-handoff participation:preview-look
        recruitment:run-resume
    """,
    "member": """
        mfa_index mfa_activate_totp mfa_deactivate_totp
        mfa_view_recovery_codes mfa_generate_recovery_codes mfa_list_webauthn mfa_add_webauthn mfa_remove_webauthn
        account
        jobs:jobs jobs:job jobs:cancel jobs:resume
        stimuli:stimulus_sets stimuli:new stimuli:estimate stimuli:example
        stimuli:stimulus_set stimuli:generate stimuli:manifest stimuli:coverage_json
        stimuli:coverage_file stimuli:delete stimuli:browse stimuli:stimulus
        stimuli:new_source stimuli:source_set stimuli:describe_source stimuli:freeze_source stimuli:delete_source
        stimuli:original stimuli:picture stimuli:small
        stimuli:labels stimuli:new_labels stimuli:label_space stimuli:labels_file stimuli:delete_labels
        evaluations:classifiers evaluations:new evaluations:upload evaluations:take evaluations:upload_model
        evaluations:run evaluations:kind evaluations:delete evaluations:retraining evaluations:learning_curve
        evaluations:select_gold
        counterfactuals:leaderboard counterfactuals:new counterfactuals:picture counterfactuals:across
        counterfactuals:group counterfactuals:transfer counterfactuals:group-file counterfactuals:search
        counterfactuals:freeze counterfactuals:stimuli counterfactuals:export counterfactuals:close-round
        studies:new studies:draft console:studies console:retrain console:recruiters
        console:set-figures console:set-figure console:search-figures console:search-figure
        console:retraining-figures console:retraining-figure
        results:scores results:scores_file results:new_set
        notices:waiting notices:mute notices:settings notices:address notices:unmute
    """,
    "treasurer": "recruitment:all-money recruitment:all-money-csv console:account",
    "administrator": """
        accounts manage-account console:open-account console:site console:house-audit console:house-audit-csv
    """,
}
WANTED = {name: caller for caller, names in FROM.items() for name in names.split()}
#: Something for every parameter of an address; there need not be such a row.
_VALUES = {
    "<int:pk>": "999", "<slug:name>": "none", "<slug:key>": "none", "<str:key>": "none",
    "<slug:function>": "gaussian_noise", "<int:step>": "1", "<slug:size>": "112", "<int:first>": "1", "<int:last>": "2",
    "<int:position>": "1", "<int:showing>": "1", "<str:entry>": "none", "<slug:by>": "month", "<str:which>": "before",
    "<slug:chart>": "none", "<slug:figure>": "functions", "<str:suffix>": "svg", "<slug:suffix>": "svg",
    "<slug:kind>": "marketplace", "<slug:code>": "marketplace", "<str:environment>": "none",
}  # fmt: skip


def house_addresses() -> dict[str, str]:
    """Of every name, an address; those of studies are left out."""

    def walk(patterns: list[Any], prefix: str, namespace: str) -> Iterator[tuple[str, str]]:
        for pattern in patterns:
            route = prefix + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                inner = f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace
                yield from walk(pattern.url_patterns, route, inner)
            elif isinstance(pattern, URLPattern) and not route.startswith("studies/<slug:slug>/"):
                yield f"{namespace}{pattern.name or route}", route

    found = dict(walk(get_resolver().url_patterns, "", ""))
    for part, value in _VALUES.items():
        found = {name: route.replace(part, value) for name, route in found.items()}
    return {name: f"/{route}" for name, route in found.items()}


ADDRESSES = house_addresses()
#: Django's own pages of rows: the whole of it is the administrators'.
ADMIN = {name: address for name, address in ADDRESSES.items() if address.startswith("/admin/")}
OURS = {name: address for name, address in ADDRESSES.items() if name not in ADMIN}


@pytest.fixture
def callers() -> dict[str, Client]:
    make_stimulus_set()
    found = {"anonymous": Client()}
    for role in HouseRole:
        user = User.objects.create_user(role.value)
        set_house_role(user=user, role=role)
        found[role.value] = Client()
        found[role.value].force_login(user)
    draft_study(by=User.objects.get(username="member"))
    return found


def is_let_in(answer: HttpResponse) -> bool | None:
    """Whatever it is that comes then: a page, a refused form, a row that is not there. None: it takes no such call."""
    if answer.status_code in (405, 415):
        return None
    is_sent_away = answer.status_code == 302 and "/login/" in answer["Location"]
    return not is_sent_away and answer.status_code not in (401, 403, 429)


def test_the_table_names_every_address_and_no_other() -> None:
    assert set(OURS) - set(WANTED) == set(), "say in this file who may open these pages"
    assert set(WANTED) - set(OURS) == set(), "these pages do not exist"


@pytest.mark.promise(3)
@pytest.mark.parametrize("method", ["get", "post"])
def test_every_address_lets_in_whom_the_table_names(method: str, callers: dict[str, Client]) -> None:
    found, wanted = {}, {}
    for name, address in OURS.items():
        if name in (
            "logout",
            "login",
            "account_login",
            "mfa_login_webauthn",
            "mfa_authenticate",
        ):  # they change who is signed in
            continue
        for caller in CALLERS:
            answer = getattr(callers[caller], method)(address)
            found[name, caller] = is_let_in(answer)
            first = WANTED[name]
            wanted[name, caller] = first in CALLERS and CALLERS.index(caller) >= CALLERS.index(first)
            if first == "secret":
                wanted[name, caller] = bool(found[name, caller])
                assert 400 <= answer.status_code < 500, (name, caller)
    wrong = {key for key, is_in in found.items() if is_in is not None and is_in != wanted[key]}
    assert [" ".join(key) for key in sorted(wrong) if found[key]] == [], "let in although they may not"
    assert [" ".join(key) for key in sorted(wrong)] == [], "refused although they may"


def test_pages_of_rows_are_the_administrators(callers: dict[str, Client]) -> None:
    assert len(ADMIN) > 10
    for name, address in ADMIN.items():
        for caller in CALLERS[:-1]:
            answer = callers[caller].get(address)
            assert "/login/" in address or answer.status_code in (302, 403, 404), (name, caller)
            assert answer.status_code != 302 or "login" in answer["Location"] or "logout" in address, (name, caller)
