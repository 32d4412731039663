"""Settings of the marketplace's own site."""

from __future__ import annotations

from csp.constants import SELF

from humanexp.sites.marketplace.money import FeeSchedule
from humanexp.sites.settings import OTHERS_PAGES, THIS_MACHINE, env, settings_of

#: The address workers and frames see. Empty: the address each request came to.
SITE_URL = env.str("MARKETPLACE_URL", default="").rstrip("/")
MARKETPLACE_NAME = env.str("MARKETPLACE_NAME", default="HumanExp Marketplace")
#: Who can make a worker's account: "open" (everybody), "invite" (with a code) or "closed" (nobody).
MARKETPLACE_SIGN_UP = env.str("MARKETPLACE_SIGN_UP", default="open")
#: Opens /_test/: a settable clock and faults on demand. Never set it where real people work.
MARKETPLACE_TEST_CONTROLS = env.bool("MARKETPLACE_TEST_CONTROLS", default=False)
#: What this house keeps of a requester's deposit beside what workers get. Nobody else charges anything here.
MARKETPLACE_FEES = FeeSchedule(
    base_percent=env.int("MARKETPLACE_FEE_PERCENT", default=0),
    large_hit_percent=env.int("MARKETPLACE_LARGE_HIT_FEE_PERCENT", default=0),
    masters_percent=env.int("MARKETPLACE_MASTERS_FEE_PERCENT", default=0),
    minimum_cents=env.int("MARKETPLACE_MINIMUM_FEE_CENTS", default=0),
)
#: Where notifications of HIT events go: services that speak SQS and SNS. Empty: that transport is refused.
MARKETPLACE_SQS_ENDPOINT_URL = env.str("MARKETPLACE_SQS_ENDPOINT_URL", default="")
MARKETPLACE_SNS_ENDPOINT_URL = env.str("MARKETPLACE_SNS_ENDPOINT_URL", default="")
MARKETPLACE_NOTIFICATION_REGION = env.str("MARKETPLACE_NOTIFICATION_REGION", default="us-east-1")
MARKETPLACE_NOTIFICATION_ACCESS_KEY_ID = env.str("MARKETPLACE_NOTIFICATION_ACCESS_KEY_ID", default="")
MARKETPLACE_NOTIFICATION_SECRET_ACCESS_KEY = env.str("MARKETPLACE_NOTIFICATION_SECRET_ACCESS_KEY", default="")
#: What a request's signature must be scoped to.
MARKETPLACE_REGION = "us-east-1"
MARKETPLACE_SIGNING_NAME = "mturk-requester"

globals().update(
    settings_of(
        "marketplace",
        url=SITE_URL,
        hosts=env.list("MARKETPLACE_ALLOWED_HOSTS", default=THIS_MACHINE),
        secret_key=env.str("MARKETPLACE_SECRET_KEY", default=""),
        database=env.db_url("MARKETPLACE_DATABASE_URL") if "MARKETPLACE_DATABASE_URL" in env else None,
        context="humanexp.sites.marketplace.pages.answers.site",
        apps=["django.contrib.auth"],
        middleware=[
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "humanexp.sites.marketplace.pages.answers.OneLoopbackName",
            "humanexp.sites.marketplace.pages.answers.WorkRefusals",
        ],
        policy={"img-src": [SELF, "data:"], "frame-src": [SELF, *OTHERS_PAGES]},
    )
)

AUTH_USER_MODEL = "marketplace.Account"
PASSWORD_HASHERS = [
    "humanexp.sites.marketplace.accounts.InteractiveScryptHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "groups"
LOGOUT_REDIRECT_URL = "groups"
CSRF_FAILURE_VIEW = "humanexp.sites.marketplace.pages.answers.csrf_failure"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin-allow-popups" if SITE_URL.startswith("https:") else None
SECURE_HSTS_SECONDS = env.int("MARKETPLACE_HSTS_SECONDS", default=0)
if env.bool("MARKETPLACE_TRUST_PROXY_HEADER", default=False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
