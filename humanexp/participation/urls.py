from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from humanexp.participation.api.views import (
    PREVIEW_CALLS,
    ClosingView,
    CompleteView,
    HandoffView,
    LeaseView,
    LookView,
    MaskView,
    PicturesView,
    QuestionView,
    ResponsesView,
    SessionView,
    SetUpView,
    StatusView,
    StimulusView,
    WithdrawView,
)
from humanexp.participation.pages import views

app_name = "participation"
urlpatterns: list[URLPattern | URLResolver] = [
    path("run/", views.run, name="run"),
    path("run/result/", views.own_result, name="own-result"),
    path("cards/<str:key>/", views.card, name="card"),
    path("studies/<slug:slug>/count/<slug:key>/", views.count_again, name="count-again"),
    path("studies/<slug:slug>/sessions/", views.live, name="live"),
    path("studies/<slug:slug>/sessions/withdrawn/", views.withdrawn, name="withdrawn"),
    path("api/v1/run/handoff/", HandoffView.as_view(), name="run-handoff"),
    path("api/v1/run/handoff/look/", LookView.as_view(), name="run-look"),
    path("api/v1/run/session/", SessionView.as_view(), name="run-session"),
    path("api/v1/run/lease/", LeaseView.as_view(), name="run-lease"),
    path("api/v1/run/withdraw/", WithdrawView.as_view(), name="run-withdraw"),
    path("api/v1/run/status/", StatusView.as_view(), name="run-status"),
    path("api/v1/run/responses/", ResponsesView.as_view(), name="run-responses"),
    path("api/v1/run/setup/", SetUpView.as_view(), name="run-setup"),
    path("api/v1/run/complete/", CompleteView.as_view(), name="run-complete"),
    path("api/v1/run/closing/", ClosingView.as_view(), name="run-closing"),
    path("api/v1/run/trials/<int:first>-<int:last>/pictures/", PicturesView.as_view(), name="run-pictures"),
    path("api/v1/run/trials/<int:position>/stimulus/<int:showing>/", StimulusView.as_view(), name="run-stimulus"),
    path("api/v1/run/trials/<int:position>/question/", QuestionView.as_view(), name="run-question"),
    path("api/v1/run/trials/<int:position>/mask/", MaskView.as_view(), name="run-mask"),
    *PREVIEW_CALLS,
]
