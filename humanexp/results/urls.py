from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from humanexp.results import views

app_name = "results"
urlpatterns: list[URLPattern | URLResolver] = [
    path("studies/<slug:slug>/results/", views.dashboard, name="dashboard"),
    path("studies/<slug:slug>/results/analyse/", views.analyse, name="analyse"),
    path("studies/<slug:slug>/results/figures/<str:key>.json", views.figure_json, name="figure_json"),
    path("studies/<slug:slug>/results/figures/<str:key>.<str:suffix>", views.figure_file, name="figure_file"),
    path("studies/<slug:slug>/results/findings.json", views.findings_file, name="findings"),
    path("studies/<slug:slug>/results/responses.csv", views.responses_csv, name="responses"),
]
