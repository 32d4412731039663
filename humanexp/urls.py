from __future__ import annotations

from allauth.mfa.webauthn.views import login_webauthn
from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path

from humanexp.core.api.schema import Schema
from humanexp.core.pages import accounts, administration, organisation
from humanexp.core.pages.login import Login, confirm

#: Every app keeps its own addresses; all of them start at the root.
APPS_WITH_PAGES = [
    "jobs",
    "stimuli",
    "studies",
    "participation",
    "screening",
    "recruitment",
    "evaluations",
    "results",
    "counterfactuals",
    "console",
    "notices",
]

urlpatterns = [
    path("login/", Login.as_view(), name="login"),
    path("login/", Login.as_view(), name="account_login"),
    path("login/passkey/", login_webauthn, name="mfa_login_webauthn"),
    path("login/organisation/", organisation.leave, name="organisation"),
    path("login/organisation/back/", organisation.back, name="organisation-back"),
    path("account/confirm/", confirm, name="account_reauthenticate"),
    path("account/second-factor/", include("humanexp.core.factor_urls")),
    path("account/", accounts.account, name="account"),
    path("account/new-password/", accounts.new_password, name="new-password"),
    path("account/forgotten/", accounts.forgotten, name="forgotten-password"),
    path("accounts/", administration.accounts, name="accounts"),
    path("accounts/<int:pk>/", administration.one_account, name="manage-account"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("admin/login/", Login.as_view()),
    path("admin/", admin.site.urls),
    path("api/v1/schema/", Schema.as_view(), name="schema"),
    *[path("", include(f"humanexp.{app}.urls")) for app in APPS_WITH_PAGES],
]

handler400 = "humanexp.core.pages.refusals.bad_request"
handler404 = "humanexp.core.pages.refusals.not_found"
handler500 = "humanexp.core.pages.refusals.server_error"
