"""What other packages show in the administration, and HumanExp does not: secrets, and accounts beside the accounts."""

from __future__ import annotations

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib import admin

for model in (Authenticator, EmailAddress):
    admin.site.unregister(model)
