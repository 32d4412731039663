from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from humanexp.experiments import api, new_study, preview_api, views

app_name = "experiments"
urlpatterns: list[URLPattern | URLResolver] = [
    path("run/", views.run, name="run"),
    path("studies/new/", new_study.new_study, name="new"),
    path("studies/new/draft/", new_study.draft, name="draft"),
    path("studies/<slug:slug>/design/", views.design, name="design"),
    path("studies/<slug:slug>/design/change/", new_study.change_study, name="change"),
    path("studies/<slug:slug>/design/power/", views.power, name="power"),
    path("studies/<slug:slug>/design/study.toml", views.study_file, name="study-file"),
    path("studies/<slug:slug>/count/<slug:key>/", views.count_again, name="count-again"),
    path("studies/<slug:slug>/sessions/", views.live, name="live"),
    path("studies/<slug:slug>/sessions/withdrawn/", views.withdrawn, name="withdrawn"),
    path("api/v1/run/handoff/", api.HandoffView.as_view(), name="run-handoff"),
    path("api/v1/run/handoff/look/", api.LookView.as_view(), name="run-look"),
    path("api/v1/run/session/", api.SessionView.as_view(), name="run-session"),
    path("api/v1/run/lease/", api.LeaseView.as_view(), name="run-lease"),
    path("api/v1/run/withdraw/", api.WithdrawView.as_view(), name="run-withdraw"),
    path("api/v1/run/status/", api.StatusView.as_view(), name="run-status"),
    path("api/v1/run/responses/", api.ResponsesView.as_view(), name="run-responses"),
    path("api/v1/run/complete/", api.CompleteView.as_view(), name="run-complete"),
    path("api/v1/run/trials/<int:first>-<int:last>/pictures/", api.PicturesView.as_view(), name="run-pictures"),
    path("api/v1/run/trials/<int:position>/stimulus/<int:showing>/", api.StimulusView.as_view(), name="run-stimulus"),
    path("api/v1/run/trials/<int:position>/question/", api.QuestionView.as_view(), name="run-question"),
    path("api/v1/run/trials/<int:position>/mask/", api.MaskView.as_view(), name="run-mask"),
    *preview_api.urlpatterns,
]
