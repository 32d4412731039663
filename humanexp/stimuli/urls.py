from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from humanexp.stimuli.views import sets

app_name = "stimuli"
urlpatterns: list[URLPattern | URLResolver] = [
    path("stimuli/", sets.stimulus_sets, name="stimulus_sets"),
    path("stimuli/new/", sets.new, name="new"),
    path("stimuli/sets/<slug:name>/", sets.stimulus_set, name="stimulus_set"),
    path("stimuli/sets/<slug:name>/generate/", sets.generate, name="generate"),
    path("stimuli/sets/<slug:name>/manifest.csv", sets.manifest, name="manifest"),
    path("stimuli/pictures/<int:pk>/", sets.picture, name="picture"),
]
