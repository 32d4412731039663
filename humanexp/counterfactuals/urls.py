from __future__ import annotations

from django.urls import path

from humanexp.counterfactuals.pages import views

app_name = "counterfactuals"
urlpatterns = [
    path("counterfactuals/", views.leaderboard, name="leaderboard"),
    path("counterfactuals/new/", views.new, name="new"),
    path("counterfactuals/pictures/<int:pk>/<str:which>.png", views.picture, name="picture"),
    path("counterfactuals/across/", views.across, name="across"),
    path("counterfactuals/across/<slug:key>/", views.across, name="group"),
    path("counterfactuals/across/<slug:key>/test/", views.start_transfer, name="transfer"),
    path("counterfactuals/across/<slug:key>/<slug:chart>.<str:suffix>", views.group_file, name="group-file"),
    path("counterfactuals/<slug:name>/", views.search, name="search"),
    path("counterfactuals/<slug:name>/freeze/", views.freeze, name="freeze"),
    path("counterfactuals/<slug:name>/stimuli/", views.as_stimuli, name="stimuli"),
    path("counterfactuals/<slug:name>/export.zip", views.export, name="export"),
    path("counterfactuals/<slug:name>/rounds/<int:step>/", views.close_round, name="close-round"),
]
