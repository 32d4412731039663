from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from humanexp.console.pages import figures, recruiters, retraining, views

app_name = "console"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.studies, name="studies"),
    path("studies/<slug:slug>/", views.overview, name="overview"),
    path("studies/<slug:slug>/preview/", views.preview, name="preview"),
    path("studies/<slug:slug>/preview/run/", views.run_preview, name="run-preview"),
    path("studies/<slug:slug>/pages/", views.gallery, name="gallery"),
    path("studies/<slug:slug>/preflight/", views.preflight, name="preflight"),
    path("studies/<slug:slug>/members/", views.members, name="members"),
    path("studies/<slug:slug>/members/<int:pk>/", views.member, name="member"),
    path("studies/<slug:slug>/audit/", views.audit, name="audit"),
    path("classifiers/retrain/", retraining.retrain, name="retrain"),
    path("recruiters/", recruiters.recruiters_page, name="recruiters"),
    path("recruiters/open/", recruiters.open_account, name="open-account"),
    path("recruiters/sites/<slug:kind>/", recruiters.site, name="site"),
    path("recruiters/<slug:code>/", recruiters.account, name="account"),
    path("record/", views.audit, name="house-audit"),
    path("record/record.csv", views.audit_csv, name="house-audit-csv"),
    path("studies/<slug:slug>/audit/record.csv", views.audit_csv, name="audit-csv"),
    path("studies/<slug:slug>/figures/", figures.page, {"kind": "study"}, name="figures"),
    path("studies/<slug:slug>/figures/<slug:figure>.<slug:suffix>", figures.file, {"kind": "study"}, name="figure"),
    *(
        path(route, view, {"kind": kind}, name=name)
        for of, kind, base in (
            ("set", "stimulus set", "stimuli/sets/<slug:name>"),
            ("search", "search", "counterfactuals/<slug:name>"),
            ("retraining", "retraining", "classifiers/retraining/<int:pk>"),
        )
        for route, view, name in (
            (f"{base}/figures/", figures.page, f"{of}-figures"),
            (f"{base}/figures/<slug:figure>.<slug:suffix>", figures.file, f"{of}-figure"),
        )
    ),
]
