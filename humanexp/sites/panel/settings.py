"""Settings of the panel's own site. Everything that differs between machines comes from the environment."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import environ
from csp.constants import NONE, SELF

from humanexp.key_files import read_or_create_key
from humanexp.listening import SQLITE_OPTIONS
from humanexp.places import WORK

env = environ.Env()

BASE_DIR = Path(__file__).resolve().parent
MEDIA_ROOT = Path(env.str("MEDIA_ROOT", default=str(WORK / "media"))).resolve()
MEDIA_ROOT.mkdir(parents=True, exist_ok=True)

DEBUG = False
#: The address that people and clients see. Empty: the address each request came to.
PANEL_URL = env.str("PANEL_URL", default="").rstrip("/")
#: Opens /control/ (clock, faults, money, tokens, people) to callers on other machines, and listening beyond this one.
PANEL_OPEN_TO_OTHERS = env.bool("PANEL_OPEN_TO_OTHERS", default=False)

_public = urlsplit(PANEL_URL)
ALLOWED_HOSTS = [
    *env.list("PANEL_ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"]),
    *([_public.hostname] if _public.hostname else []),
]
CSRF_TRUSTED_ORIGINS = [PANEL_URL] if PANEL_URL else []
SECRET_KEY = env.str("PANEL_SECRET_KEY", default="") or read_or_create_key(MEDIA_ROOT / "keys" / "panel_secret_key")

INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "csp",
    "humanexp.sites.panel",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "humanexp.sites.panel.middleware.PageRefusals",
    "humanexp.sites.panel.middleware.FaultsOnDemand",
]
ROOT_URLCONF = "humanexp.sites.panel.urls"
WSGI_APPLICATION = "humanexp.sites.panel.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.messages.context_processors.messages",
                "humanexp.sites.panel.pages.visitors.visitor",
            ],
        },
    },
]

DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": MEDIA_ROOT / "panel.sqlite3",
        "CONN_MAX_AGE": None,
        "OPTIONS": SQLITE_OPTIONS,
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Names of its own: other sites may answer at the same host, and a cookie knows no port.
SESSION_COOKIE_NAME = "panel_session"
CSRF_COOKIE_NAME = "panel_csrftoken"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _public.scheme == "https"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        # Starting a study is a form that redirects to the researcher's address.
        "form-action": [SELF, "https:", "http://localhost:*", "http://127.0.0.1:*"],
        "frame-ancestors": [NONE],
    }
}

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False
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
