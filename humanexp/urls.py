from __future__ import annotations

from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView

from humanexp.core.pages import accounts
from humanexp.core.pages.login import Login

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
]

urlpatterns = [
    path("login/", Login.as_view(), name="login"),
    path("account/", accounts.account, name="account"),
    path("account/new-password/", accounts.new_password, name="new-password"),
    path("account/forgotten/", accounts.forgotten, name="forgotten-password"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("admin/login/", Login.as_view()),
    path("admin/", admin.site.urls),
    path("api/v1/schema/", SpectacularAPIView.as_view(), name="schema"),
    *[path("", include(f"humanexp.{app}.urls")) for app in APPS_WITH_PAGES],
]

handler400 = "humanexp.core.pages.refusals.bad_request"
handler404 = "humanexp.core.pages.refusals.not_found"
handler500 = "humanexp.core.pages.refusals.server_error"
