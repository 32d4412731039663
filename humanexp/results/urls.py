from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from humanexp.results.pages import scores, set_archives, views

app_name = "results"
urlpatterns: list[URLPattern | URLResolver] = [
    path("scores/", scores.scores, name="scores"),
    path("scores.<slug:suffix>", scores.scores_file, name="scores_file"),
    path("scores/sets/new/", set_archives.new_set, name="new_set"),
    path("studies/<slug:slug>/results/", views.dashboard, name="dashboard"),
    path("studies/<slug:slug>/results/analyse/", views.analyse, name="analyse"),
    path("studies/<slug:slug>/results/card/", views.card, name="card"),
    path("studies/<slug:slug>/results/panels/<str:key>/", views.panel, name="panel"),
    path("studies/<slug:slug>/results/methods/", views.methods, name="methods"),
    path("studies/<slug:slug>/results/methods/freeze/", views.freeze, name="freeze"),
    path("studies/<slug:slug>/results/publish/", set_archives.publish, name="publish"),
    path("studies/<slug:slug>/results/report/", views.write_report, name="write_report"),
    path("studies/<slug:slug>/results/report.<str:suffix>", views.report_file, name="report_file"),
    path("studies/<slug:slug>/results/figures/<str:key>.json", views.figure_json, name="figure_json"),
    path("studies/<slug:slug>/results/figures/<str:key>.<str:suffix>", views.figure_file, name="figure_file"),
    path("studies/<slug:slug>/results/sheets/<str:sheet>.<str:suffix>", views.sheet_file, name="sheet_file"),
    path("studies/<slug:slug>/results/tables/<str:key>/<str:table>.<str:suffix>", views.table_file, name="table_file"),
    path("studies/<slug:slug>/results/tables/<str:key>/<str:table>/", views.table, name="table"),
    path("studies/<slug:slug>/results/findings.json", views.findings_file, name="findings"),
    path("studies/<slug:slug>/results/responses.csv", views.responses_csv, name="responses"),
    path("studies/<slug:slug>/results/<slug:room>/", views.room, name="room"),
]
