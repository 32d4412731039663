from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from humanexp.console.views import audit, members, preflight, preview, retraining, studies

app_name = "console"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", studies.studies, name="studies"),
    path("studies/<slug:slug>/", studies.overview, name="overview"),
    path("studies/<slug:slug>/preview/", preview.preview, name="preview"),
    path("studies/<slug:slug>/preview/run/", preview.run_preview, name="run-preview"),
    path("studies/<slug:slug>/preflight/", preflight.preflight, name="preflight"),
    path("studies/<slug:slug>/members/", members.members, name="members"),
    path("studies/<slug:slug>/members/<int:pk>/", members.member, name="member"),
    path("studies/<slug:slug>/audit/", audit.audit, name="audit"),
    path("classifiers/retrain/", retraining.retrain, name="retrain"),
    path("record/", audit.house_audit, name="house-audit"),
    path("record/record.csv", audit.house_audit_csv, name="house-audit-csv"),
    path("studies/<slug:slug>/audit/record.csv", audit.audit_csv, name="audit-csv"),
]
