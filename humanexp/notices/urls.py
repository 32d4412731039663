from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from humanexp.notices import pages

app_name = "notices"
urlpatterns: list[URLPattern | URLResolver] = [
    path("waiting/", pages.waiting, name="waiting"),
    path("waiting/mute/", pages.mute, name="mute"),
    path("account/notices/", pages.notice_settings, name="settings"),
    path("account/notices/<int:pk>/", pages.address, name="address"),
    path("account/notices/mutes/<int:pk>/", pages.unmute, name="unmute"),
]
