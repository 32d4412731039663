from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from humanexp.console import views

app_name = "console"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.studies, name="studies"),
    path("studies/<slug:slug>/", views.overview, name="overview"),
]
