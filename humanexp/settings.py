"""Settings: everything that differs between machines comes from the environment, with safe defaults."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from analysis import __version__ as VERSION, energy
from humanexp.addresses import is_loopback
from humanexp.core.connections import database_of_address, parts_of_address, storage_of_address
from humanexp.places import PACKAGE, WORK, read_or_create_key, shipped
from humanexp.recruiters.money import NO_FEES, PUBLISHED_FEES, WAGE_FLOOR_CENTS as USUAL_FLOOR_CENTS, FeeTable

env = environ.Env()

BASE_DIR = WORK
MEDIA_ROOT = Path(env.str("MEDIA_ROOT", default=str(WORK / "media"))).resolve()
MEDIA_ROOT.mkdir(parents=True, exist_ok=True, mode=0o700)

#: Where files lie that several machines share; MEDIA_ROOT is then each machine's own copy of what it needs. Empty: the
#: files are those in MEDIA_ROOT. s3://bucket/prefix?endpoint_url=...&region=...
FILE_STORE = env.str("FILE_STORE", default="")
if FILE_STORE:
    parts_of_address(FILE_STORE, setting="FILE_STORE")
    if not env.str("SECRET_KEY", default="") and not (MEDIA_ROOT / "keys" / "secret_key").exists():
        raise ImproperlyConfigured(
            "With FILE_STORE, several machines sign with one key: set SECRET_KEY to the same value on each of them."
        )

DEBUG = env.bool("DEBUG", default=False)
PUBLIC_URL = env.str("PUBLIC_URL", default="http://127.0.0.1:8000").rstrip("/")
_public = urlsplit(PUBLIC_URL)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=[_public.hostname or "127.0.0.1", "127.0.0.1", "localhost"])
#: Opens /metrics, and what is wrong in /readyz, to callers from elsewhere that give it as a bearer token.
METRICS_TOKEN = env.str("METRICS_TOKEN", default="")
#: After so many hours without a verified archive `doctor` finds fault.
BACKUP_MAX_AGE_HOURS = env.int("BACKUP_MAX_AGE_HOURS", default=48)
#: Whom participants can write to where their study names nobody.
CONTACT = env.str("CONTACT", default="")
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]

#: Signs links, tokens and cookies, and seals the key of people's codes: keep a copy. It may be rotated: put the old one
#: into SECRET_KEY_FALLBACKS.
SECRET_KEY = env.str("SECRET_KEY", default="") or read_or_create_key(MEDIA_ROOT / "keys" / "secret_key")
SECRET_KEY_FALLBACKS = env.list("SECRET_KEY_FALLBACKS", default=[])

#: serial | processes[:n] | dask:tcp://host:8786
COMPUTE = env.str("COMPUTE", default="processes")
#: What estimates of energy and CO2 assume of this site, and where its carbon intensity is from.
_G_PER_KWH = env.float("ENERGY_G_PER_KWH", default=1000 * energy.KG_CO2_PER_KWH)
ENERGY = energy.Assumptions(
    cpu_w=env.float("ENERGY_CPU_W", default=energy.CPU_W),
    cuda_w=env.float("ENERGY_CUDA_W", default=energy.CUDA_W),
    other_w=env.float("ENERGY_OTHER_W", default=0.0),
    overhead=env.float("ENERGY_OVERHEAD", default=1.0),
    kg_co2_per_kwh=_G_PER_KWH / 1000,
    source=env.str("ENERGY_SOURCE", default="") or energy.source_of(_G_PER_KWH / 1000),
)
#: Hosts of models that may be asked about pictures, each with the variable that holds its key: host[:port][=NAME].
OBSERVER_HOSTS = env.list("OBSERVER_HOSTS", default=[])
#: Modules that register corruption functions of the lab's own.
CORRUPTION_MODULES = env.list("CORRUPTION_MODULES", default=[])

#: Where pictures may be imported from besides folders and archives, e.g. s3://bucket?endpoint_url=...&region=...
PICTURES_STORAGE = env.str("PICTURES_STORAGE", default="")
#: Largest file that the console takes from an account, in MB; larger ones are for the command line.
PICTURES_UPLOAD_MAX_MB = env.int("PICTURES_UPLOAD_MAX_MB", default=1000)
#: None is taken that would leave less than this on the disk of MEDIA_ROOT, in MB: answers go on.
UPLOADS_LEAVE_FREE_MB = env.int("UPLOADS_LEAVE_FREE_MB", default=1000)
#: Longest body of every other call, in kB. The longest that a page sends is a study file, of 100,000 characters;
#: participants' answers have a limit of their own, a quarter of this (humanexp.core.api.problems).
BODY_MAX_KB = env.int("BODY_MAX_KB", default=1000)

#: Where the marketplace answers; its frames may show /take/ pages.
MARKETPLACE_URL = env.str("MARKETPLACE_URL", default="http://localhost:8001").rstrip("/")
#: The console may start the marketplace and the panel on this machine: never on a site that others reach, unless it is
#: allowed here.
LOCAL_SITES = env.bool("LOCAL_SITES", default=is_loopback(_public.hostname or ""))
#: Requester keys for MARKETPLACE_URL, as printed by humanexp.sites.marketplace.create_requester.
MARKETPLACE_ACCESS_KEY_ID = env.str("MARKETPLACE_ACCESS_KEY_ID", default="")
MARKETPLACE_SECRET_ACCESS_KEY = env.str("MARKETPLACE_SECRET_ACCESS_KEY", default="")
#: Amazon's requester endpoints; each environment is told its own, none is ever guessed.
MTURK_SANDBOX_URL = env.str(
    "MTURK_SANDBOX_URL", default="https://mturk-requester-sandbox.us-east-1.amazonaws.com"
).rstrip("/")
MTURK_PRODUCTION_URL = env.str(
    "MTURK_PRODUCTION_URL", default="https://mturk-requester.us-east-1.amazonaws.com"
).rstrip("/")
#: What recruiters take on top, in whole percent and cents; the account page there is the authority. Our own marketplace
#: charges nothing unless its settings of the same names say so.
MARKETPLACE_FEES, MTURK_FEES = (
    FeeTable(
        base_percent=env.int(f"{name}_FEE_PERCENT", default=usual.base_percent),
        large_hit_percent=env.int(f"{name}_LARGE_HIT_FEE_PERCENT", default=usual.large_hit_percent),
        masters_percent=env.int(f"{name}_MASTERS_FEE_PERCENT", default=usual.masters_percent),
        minimum_cents=env.int(f"{name}_MINIMUM_FEE_CENTS", default=usual.minimum_cents),
    )
    for name, usual in (("MARKETPLACE", NO_FEES), ("MTURK", PUBLISHED_FEES))
)
#: Where Prolific's API answers, and where the practice panel of this distribution does.
PROLIFIC_URL = env.str("PROLIFIC_URL", default="https://api.prolific.com").rstrip("/")
PANEL_URL = env.str("PANEL_URL", default="http://localhost:8002").rstrip("/")
#: The first account's token; the workspace and project of its studies (empty: the only workspace, its first project);
#: what is charged: a third of every payment to academic and non-profit users, 42.8 % to others, and tax.
PROLIFIC_TOKEN, PANEL_TOKEN = (env.str(f"{name}_TOKEN", default="") for name in ("PROLIFIC", "PANEL"))
PROLIFIC_WORKSPACE, PANEL_WORKSPACE = (env.str(f"{name}_WORKSPACE", default="") for name in ("PROLIFIC", "PANEL"))
PROLIFIC_PROJECT, PANEL_PROJECT = (env.str(f"{name}_PROJECT", default="") for name in ("PROLIFIC", "PANEL"))
PROLIFIC_ACADEMIC, PANEL_ACADEMIC = (env.bool(f"{name}_ACADEMIC", default=True) for name in ("PROLIFIC", "PANEL"))
PROLIFIC_VAT_PERCENT, PANEL_VAT_PERCENT = (env.int(f"{name}_VAT_PERCENT", default=0) for name in ("PROLIFIC", "PANEL"))
#: SQS queues that recruiters put events into: hints to look at once. Empty: polling alone, every minute.
MARKETPLACE_QUEUE_URL = env.str("MARKETPLACE_QUEUE_URL", default="")
MTURK_SANDBOX_QUEUE_URL = env.str("MTURK_SANDBOX_QUEUE_URL", default="")
MTURK_PRODUCTION_QUEUE_URL = env.str("MTURK_PRODUCTION_QUEUE_URL", default="")
QUEUE_REGION = env.str("QUEUE_REGION", default="us-east-1")
#: Of the marketplace's queue alone, where that is not Amazon's.
QUEUE_ENDPOINT_URL = env.str("QUEUE_ENDPOINT_URL", default="")
#: Where a bonus has no token, so many are paid by one call (at most 200): if its answer is lost, so many wait for a
#: person, once nothing has shown for so many hours that they were paid. Until one was seen to arrive, none is dearer.
BONUSES_PER_CALL = env.int("BONUSES_PER_CALL", default=10)
BONUS_EVIDENCE_HOURS = env.int("BONUS_EVIDENCE_HOURS", default=24)
FIRST_BONUS_CAP_CENTS = env.int("FIRST_BONUS_CAP_CENTS", default=100)
#: Under this an hour's pay is warned about, and topped up to; the US federal minimum wage. A warning, not a rule.
WAGE_FLOOR_CENTS = env.int("WAGE_FLOOR_CENTS", default=USUAL_FLOOR_CENTS)
WAGE_FLOOR_CENTS_GBP = env.int("WAGE_FLOOR_CENTS_GBP", default=0)
WAGE_FLOOR_CENTS_EUR = env.int("WAGE_FLOOR_CENTS_EUR", default=0)
#: Pages that may show the study in a frame, and hosts that the final form may be sent to.
RECRUITER_ORIGINS = [
    MARKETPLACE_URL,
    *env.list(
        "RECRUITER_ORIGINS",
        default=["https://worker.mturk.com", "https://workersandbox.mturk.com", "https://www.mturk.com"],
    ),
]

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "django_htmx",
    "csp",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "humanexp.core",
    "humanexp.jobs",
    "humanexp.stimuli",
    "humanexp.studies",
    "humanexp.participation",
    "humanexp.screening",
    "humanexp.evaluations",
    "humanexp.recruitment",
    "humanexp.results",
    "humanexp.counterfactuals",
    "humanexp.console",
    "humanexp.notices",
]

MIDDLEWARE = [
    "humanexp.core.middleware.Bodies",
    "humanexp.core.middleware.Probes",
    "humanexp.core.middleware.RequestId",
    "humanexp.core.middleware.AccessLog",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "humanexp.core.middleware.KeptNowhere",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "humanexp.core.languages.Language",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "humanexp.core.sessions.SessionLimits",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "humanexp.console.access.StudyAccess",
    "humanexp.console.access.SecondFactor",
    "humanexp.core.middleware.ErrorPages",
]

ROOT_URLCONF = "humanexp.urls"
WSGI_APPLICATION = "humanexp.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [shipped("templates")],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "humanexp.core.pages.navigation.console",
            ],
        },
    },
]

# An empty variable, as files of variables have it, counts as one that is not set.
DATABASES = {
    "default": database_of_address(
        env.str("DATABASE_URL", default="") or f"sqlite:///{MEDIA_ROOT / 'humanexp.sqlite3'}",
        kept_open_s=env.int("CONN_MAX_AGE", default=60),
    )
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    **({"pictures": storage_of_address(PICTURES_STORAGE)} if PICTURES_STORAGE else {}),
}
# Uploads are written here piece by piece, on the disk where they stay.
FILE_UPLOAD_TEMP_DIR = MEDIA_ROOT / "uploads"
FILE_UPLOAD_TEMP_DIR.mkdir(exist_ok=True, mode=0o700)
FILE_UPLOAD_PERMISSIONS, FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o600, 0o700

AUTH_USER_MODEL = "core.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "console:studies"
LOGOUT_REDIRECT_URL = "login"
#: Links with which somebody chooses a password.
PASSWORD_RESET_TIMEOUT = 3 * 24 * 3600
#: Mail, for forgotten passwords; without a host there is none, and administrators make links.
EMAIL_HOST = env.str("EMAIL_HOST", default="")
EMAIL_PORT = env.int("EMAIL_PORT", default=25)
EMAIL_HOST_USER = env.str("EMAIL_HOST_USER", default="")
EMAIL_HOST_PASSWORD = env.str("EMAIL_HOST_PASSWORD", default="")
EMAIL_USE_TLS = env.bool("EMAIL_USE_TLS", default=False)
EMAIL_USE_SSL = env.bool("EMAIL_USE_SSL", default=False)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.str("DEFAULT_FROM_EMAIL", default=f"humanexp@{_public.hostname or 'localhost'}")
#: Whom the installation itself tells what needs an administrator: mailto:NAME, https://... (signed with NOTICE_SECRET),
#: slack+https://...
NOTICE_ADDRESSES = env.list("NOTICE_ADDRESSES", default=[])
NOTICE_SECRET = env.str("NOTICE_SECRET", default="")
#: Hosts (or host:port) that people's own addresses may be at although they are in a private network, or without TLS.
NOTICE_HOSTS = env.list("NOTICE_HOSTS", default=[])
#: Called every so many minutes while database, job runner and the looks at recruiters are well: a service there notices
#: when no call comes.
ALIVE_URL = env.str("ALIVE_URL", default="")
ALIVE_EVERY_MINUTES = env.int("ALIVE_EVERY_MINUTES", default=5)
#: required: whoever moves money, and administrators, cannot do without; offered: whoever sets one up is asked for it.
SECOND_FACTOR = env.str("SECOND_FACTOR", default="offered")
if SECOND_FACTOR not in ("required", "offered", "off"):
    raise ImproperlyConfigured(f"SECOND_FACTOR is {SECOND_FACTOR!r}: write required, offered or off.")
#: Where it is required: how long ago somebody may have shown who they are before they move money.
CONFIRM_MINUTES = env.int("CONFIRM_MINUTES", default=15)
ACCOUNT_ADAPTER = "humanexp.core.second_factors.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_REAUTHENTICATION_TIMEOUT = 60 * CONFIRM_MINUTES
# Wrong passwords and codes are counted by humanexp.core.limits.
ACCOUNT_RATE_LIMITS = MFA_RATE_LIMITS = False
MFA_ADAPTER = "humanexp.core.second_factors.Adapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_FORMS = {
    "authenticate": "humanexp.core.pages.login.CodeForm",
    "authenticate_webauthn": "humanexp.core.pages.login.PasskeyForm",
    "reauthenticate": "humanexp.core.pages.login.ConfirmingCodeForm",
}
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_TOTP_ISSUER = f"HumanExp {_public.hostname}"
# A clock may be half a minute off; a code that was used is refused for all that time.
MFA_TOTP_TOLERANCE = 1
#: The organisation's sign-in (OpenID Connect). Groups are JSON: {"group": "administrator" | "treasurer" | "member" |
#: "lab/NAME"}; without any, nobody gets an account by it. An address links an account only where the administrator says
#: so.
OIDC_ISSUER = env.str("OIDC_ISSUER", default="").rstrip("/")
OIDC_CLIENT_ID = env.str("OIDC_CLIENT_ID", default="")
OIDC_CLIENT_SECRET = env.str("OIDC_CLIENT_SECRET", default="")
OIDC_NAME = env.str("OIDC_NAME", default="your organisation")
OIDC_SCOPES = env.list("OIDC_SCOPES", default=["openid", "profile", "email"])
OIDC_GROUPS_CLAIM = env.str("OIDC_GROUPS_CLAIM", default="groups")
OIDC_GROUPS = env.json("OIDC_GROUPS", default={})
OIDC_LINK_BY_EMAIL = env.bool("OIDC_LINK_BY_EMAIL", default=False)
_issuer = urlsplit(OIDC_ISSUER)
if OIDC_ISSUER and _issuer.scheme != "https" and not is_loopback(_issuer.hostname or ""):
    raise ImproperlyConfigured("OIDC_ISSUER must begin with https://.")
#: Whoever is away for so long is signed out; and everybody after so many hours.
SESSION_IDLE_MINUTES = env.int("SESSION_IDLE_MINUTES", default=8 * 60)
SESSION_HOURS = env.int("SESSION_HOURS", default=7 * 24)
SESSION_COOKIE_AGE = 60 * SESSION_IDLE_MINUTES
#: How long the list of sign-ins goes back.
SIGN_INS_KEPT_DAYS = env.int("SIGN_INS_KEPT_DAYS", default=180)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _public.scheme == "https"
# A browser takes cookies with this prefix over TLS alone, and from no other host under the same domain.
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = (
    f"{'__Host-' if SESSION_COOKIE_SECURE else ''}humanexp_{name}" for name in ("session", "csrf")
)
# In a cookie of their own they would be the one that has no such prefix.
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_HTTPONLY = True

SECURE_CONTENT_TYPE_NOSNIFF = True
# Worker ids ride in the entry address: no other site hears it. ("no-referrer" would send "Origin: null" with our own
# forms, which CSRF protection rightly refuses.)
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = None if _public.scheme == "http" else "same-origin-allow-popups"
SECURE_HSTS_SECONDS = env.int("SECURE_HSTS_SECONDS", default=0)
#: Proxies in a row that each append to X-Forwarded-For whom they saw.
TRUSTED_PROXIES = env.int("TRUSTED_PROXIES", default=1)
if TRUSTED_PROXIES < 1:
    raise ImproperlyConfigured("TRUSTED_PROXIES is at least 1; without a proxy, leave TRUST_PROXY_HEADER out.")
if env.bool("TRUST_PROXY_HEADER", default=False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    # Whoever came to the proxy without TLS is sent to the right address. Without that header nobody here can tell.
    SECURE_SSL_REDIRECT = _public.scheme == "https"
# W005, W021: other names under the domain are not ours to decide about. W008: without the header, the proxy redirects.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021", *(["security.W008"] if _public.scheme == "https" else [])]
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:", "blob:"],
        "object-src": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

LANGUAGE_CODE = "en"
# Of the participants' pages; the console speaks English.
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
PARTICIPANT_PATHS = ("/take/", "/run/", "/volunteer/", "/cards/", "/api/v1/run/", "/api/v1/preview/")
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True
LOCALE_PATHS = [PACKAGE / "locale"]
#: Folder with catalogues of further languages for participants, one TOML file each (humanexp.core.languages).
LOCALE_FOLDER = env.str("LOCALE_FOLDER", default="")

STATIC_URL = "static/"
STATIC_ROOT = MEDIA_ROOT / "static"
STATIC_ROOT.mkdir(exist_ok=True)  # WhiteNoise warns about a folder that is not there
STATICFILES_DIRS = [shipped("static")]
WHITENOISE_USE_FINDERS = True  # static files work uncollected
WHITENOISE_MAX_AGE = 3600 if not DEBUG else 0

REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["humanexp.core.api.problems.BoundedJson"],
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.SessionAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_SCHEMA_CLASS": "humanexp.core.api.operations.Operation",
    "EXCEPTION_HANDLER": "humanexp.core.api.problems.exception_handler",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "HumanExp",
    "DESCRIPTION": "The participant's side of a study, and read access to studies.",
    "VERSION": VERSION,
    "SERVE_INCLUDE_SCHEMA": False,
    "OAS_VERSION": "3.1.0",  # the study file's schema is JSON Schema, as that version has it
    "ENUM_NAME_OVERRIDES": {"SwitchedEnum": ["off", "on", "unknown"]},
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "humanexp.participation.api.serializers.with_study_file",
    ],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"},
        "json": {"()": "humanexp.core.request_ids.JsonLines"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": env.str("LOG_FORMAT", default="line")}},
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="WARNING")},
    "loggers": {"humanexp.access": {"level": env.str("ACCESS_LOG_LEVEL", default="WARNING")}},
}
