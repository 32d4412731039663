from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from humanexp.notices.pages import views

app_name = "notices"
urlpatterns: list[URLPattern | URLResolver] = [
    path("waiting/", views.waiting, name="waiting"),
    path("waiting/mute/", views.mute, name="mute"),
    path("account/notices/", views.notice_settings, name="settings"),
    path("account/notices/<int:pk>/", views.address, name="address"),
    path("account/notices/mutes/<int:pk>/", views.unmute, name="unmute"),
]
