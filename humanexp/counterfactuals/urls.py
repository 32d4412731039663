from __future__ import annotations

from django.urls import path

from humanexp.counterfactuals import pages

app_name = "counterfactuals"
urlpatterns = [
    path("counterfactuals/", pages.leaderboard, name="leaderboard"),
    path("counterfactuals/new/", pages.new, name="new"),
    path("counterfactuals/pictures/<int:pk>/<str:which>.png", pages.picture, name="picture"),
    path("counterfactuals/across/", pages.across, name="across"),
    path("counterfactuals/across/<slug:key>/", pages.across, name="group"),
    path("counterfactuals/across/<slug:key>/test/", pages.start_transfer, name="transfer"),
    path("counterfactuals/across/<slug:key>/<slug:chart>.<str:suffix>", pages.group_file, name="group-file"),
    path("counterfactuals/<slug:name>/", pages.search, name="search"),
    path("counterfactuals/<slug:name>/freeze/", pages.freeze, name="freeze"),
    path("counterfactuals/<slug:name>/stimuli/", pages.as_stimuli, name="stimuli"),
    path("counterfactuals/<slug:name>/export.zip", pages.export, name="export"),
    path("counterfactuals/<slug:name>/rounds/<int:step>/", pages.close_round, name="close-round"),
]
