"""Settings of the marketplace's own site. Everything that differs between machines comes from the environment."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import environ
from csp.constants import NONE, SELF

from humanexp.key_files import read_or_create_key
from humanexp.listening import SQLITE_OPTIONS
from humanexp.places import WORK
from humanexp.sites.marketplace.money import FeeSchedule

env = environ.Env()

BASE_DIR = Path(__file__).resolve().parent
MEDIA_ROOT = Path(env.str("MEDIA_ROOT", default=str(WORK / "media"))).resolve()
MEDIA_ROOT.mkdir(parents=True, exist_ok=True)

DEBUG = False
#: The address workers and frames see. Empty: the address each request came to.
MARKETPLACE_URL = env.str("MARKETPLACE_URL", default="").rstrip("/")
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

_public = urlsplit(MARKETPLACE_URL)
_is_https = _public.scheme == "https"
ALLOWED_HOSTS = [
    *env.list("MARKETPLACE_ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"]),
    *([_public.hostname] if _public.hostname else []),
]
CSRF_TRUSTED_ORIGINS = [MARKETPLACE_URL] if MARKETPLACE_URL else []
MARKETPLACE_KEY_FILE = MEDIA_ROOT / "keys" / "marketplace_secret_key"
SECRET_KEY = env.str("MARKETPLACE_SECRET_KEY", default="") or read_or_create_key(MARKETPLACE_KEY_FILE)

INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "csp",
    "humanexp.sites.marketplace",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "humanexp.sites.marketplace.middleware.OneLoopbackName",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "humanexp.sites.marketplace.middleware.WorkRefusals",
]
ROOT_URLCONF = "humanexp.sites.marketplace.urls"
WSGI_APPLICATION = "humanexp.sites.marketplace.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.messages.context_processors.messages",
                "humanexp.sites.marketplace.pages.answers.site",
            ],
        },
    },
]

DATABASES = {
    "default": env.db_url("MARKETPLACE_DATABASE_URL", default=f"sqlite:///{MEDIA_ROOT / 'marketplace.sqlite3'}")
}
DATABASES["default"]["ATOMIC_REQUESTS"] = False
DATABASES["default"]["CONN_MAX_AGE"] = None
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"].setdefault("OPTIONS", {}).update(SQLITE_OPTIONS)
else:
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "marketplace.Account"
PASSWORD_HASHERS = [
    "humanexp.sites.marketplace.hashers.InteractiveScryptHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "groups"
LOGOUT_REDIRECT_URL = "groups"
# Names of its own: the platform may answer at the same host, and a cookie knows no port.
SESSION_COOKIE_NAME = "marketplace_session"
CSRF_COOKIE_NAME = "marketplace_csrftoken"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _is_https
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "humanexp.sites.marketplace.pages.answers.csrf_failure"

SECURE_CONTENT_TYPE_NOSNIFF = True
# Ids in our addresses stay here; with "no-referrer" browsers would send our own forms with Origin: null.
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin-allow-popups" if _is_https else None
SECURE_HSTS_SECONDS = env.int("MARKETPLACE_HSTS_SECONDS", default=0)
if env.bool("MARKETPLACE_TRUST_PROXY_HEADER", default=False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        # The work itself lies on other people's sites: HTTPS, or this machine while a study is being tried out.
        "frame-src": [SELF, "https:", "http://localhost:*", "http://127.0.0.1:*"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

STATIC_URL = "static/"
STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.AppDirectoriesFinder"]
WHITENOISE_USE_FINDERS = True  # static files work uncollected

DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="WARNING")},
    # A refusal is an answer, not a fault: without this every 404 would be a line.
    "loggers": {"django.request": {"level": "ERROR"}, "waitress.queue": {"level": "ERROR"}},
}
