"""Settings of the panel's own site."""

from __future__ import annotations

from csp.constants import SELF

from humanexp.sites.settings import OTHERS_PAGES, THIS_MACHINE, env, settings_of

#: The address that people and clients see. Empty: the address each request came to.
SITE_URL = env.str("PANEL_URL", default="").rstrip("/")
#: Opens /control/ (clock, faults, money, tokens, people) to callers on other machines, and listening beyond this one.
PANEL_OPEN_TO_OTHERS = env.bool("PANEL_OPEN_TO_OTHERS", default=False)

globals().update(
    settings_of(
        "panel",
        url=SITE_URL,
        hosts=env.list("PANEL_ALLOWED_HOSTS", default=THIS_MACHINE),
        secret_key=env.str("PANEL_SECRET_KEY", default=""),
        context="humanexp.sites.panel.participants.visitor",
        apps=[],
        middleware=[
            "humanexp.sites.panel.middleware.PageRefusals",
            "humanexp.sites.panel.middleware.FaultsOnDemand",
        ],
        # Starting a study is a form that redirects to the researcher's address.
        policy={"form-action": [SELF, *OTHERS_PAGES]},
    )
)
