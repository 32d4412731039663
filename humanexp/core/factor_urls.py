"""Addresses of second factors: those of allauth's pages that are used, under allauth's names."""

from __future__ import annotations

from allauth.mfa.base import views as factors
from allauth.mfa.recovery_codes import views as recovery
from allauth.mfa.totp import views as app
from allauth.mfa.webauthn import views as passkeys
from django.urls import path

urlpatterns = [
    path("", factors.index, name="mfa_index"),
    path("ask/", factors.authenticate, name="mfa_authenticate"),
    path("confirm/", factors.reauthenticate, name="mfa_reauthenticate"),
    path("app/", app.activate_totp, name="mfa_activate_totp"),
    path("app/remove/", app.deactivate_totp, name="mfa_deactivate_totp"),
    path("recovery/", recovery.view_recovery_codes, name="mfa_view_recovery_codes"),
    path("recovery/new/", recovery.generate_recovery_codes, name="mfa_generate_recovery_codes"),
    path("passkeys/", factors.index, name="mfa_list_webauthn"),
    path("passkeys/add/", passkeys.add_webauthn, name="mfa_add_webauthn"),
    path("passkeys/<int:pk>/remove/", passkeys.remove_webauthn, name="mfa_remove_webauthn"),
    path("passkeys/confirm/", passkeys.reauthenticate_webauthn, name="mfa_reauthenticate_webauthn"),
]
