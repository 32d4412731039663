from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from humanexp.studies.pages import views

app_name = "studies"
urlpatterns: list[URLPattern | URLResolver] = [
    path("studies/new/", views.new_study, name="new"),
    path("studies/new/draft/", views.draft, name="draft"),
    path("studies/<slug:slug>/design/", views.design, name="design"),
    path("studies/<slug:slug>/design/change/", views.change_study, name="change"),
    path("studies/<slug:slug>/design/power/", views.power, name="power"),
    path("studies/<slug:slug>/design/study.toml", views.study_file, name="study-file"),
]
