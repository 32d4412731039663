from __future__ import annotations

from allauth.mfa.base import views as factors
from allauth.mfa.recovery_codes import views as recovery
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as passkeys
from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path

from humanexp.core.api.schema import Schema
from humanexp.core.pages import accounts, organisation
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

#: Those of allauth's pages of second factors that are used, under allauth's names.
FACTORS = [
    path("", factors.index, name="mfa_index"),
    path("ask/", factors.authenticate, name="mfa_authenticate"),
    path("confirm/", factors.reauthenticate, name="mfa_reauthenticate"),
    path("app/", totp.activate_totp, name="mfa_activate_totp"),
    path("app/remove/", totp.deactivate_totp, name="mfa_deactivate_totp"),
    path("recovery/", recovery.view_recovery_codes, name="mfa_view_recovery_codes"),
    path("recovery/new/", recovery.generate_recovery_codes, name="mfa_generate_recovery_codes"),
    path("passkeys/", factors.index, name="mfa_list_webauthn"),
    path("passkeys/add/", passkeys.add_webauthn, name="mfa_add_webauthn"),
    path("passkeys/<int:pk>/remove/", passkeys.remove_webauthn, name="mfa_remove_webauthn"),
    path("passkeys/confirm/", passkeys.reauthenticate_webauthn, name="mfa_reauthenticate_webauthn"),
]

urlpatterns = [
    path("login/", Login.as_view(), name="login"),
    path("login/", Login.as_view(), name="account_login"),
    path("login/passkey/", passkeys.login_webauthn, name="mfa_login_webauthn"),
    path("login/organisation/", organisation.leave, name="organisation"),
    path("login/organisation/back/", organisation.back, name="organisation-back"),
    path("account/confirm/", confirm, name="account_reauthenticate"),
    path("account/second-factor/", include(FACTORS)),
    path("account/", accounts.account, name="account"),
    path("account/new-password/", accounts.new_password, name="new-password"),
    path("account/forgotten/", accounts.forgotten, name="forgotten-password"),
    path("accounts/", accounts.all_accounts, name="accounts"),
    path("accounts/<int:pk>/", accounts.one_account, name="manage-account"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("admin/login/", Login.as_view()),
    path("admin/", admin.site.urls),
    path("api/v1/schema/", Schema.as_view(), name="schema"),
    *[path("", include(f"humanexp.{app}.urls")) for app in APPS_WITH_PAGES],
]

handler400 = "humanexp.core.api.problems.bad_request"
handler404 = "humanexp.core.api.problems.not_found"
handler500 = "humanexp.core.api.problems.server_error"
