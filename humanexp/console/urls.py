from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from humanexp.console import views

app_name = "console"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.studies, name="studies"),
    path("studies/<slug:slug>/", views.overview, name="overview"),
    path("studies/<slug:slug>/preview/", views.preview, name="preview"),
    path("studies/<slug:slug>/preview/run/", views.run_preview, name="run-preview"),
]
