from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from humanexp.stimuli import views

app_name = "stimuli"
urlpatterns: list[URLPattern | URLResolver] = [
    path("stimuli/", views.stimulus_sets, name="stimulus_sets"),
    path("stimuli/new/", views.new, name="new"),
    path("stimuli/sets/<slug:name>/", views.stimulus_set, name="stimulus_set"),
    path("stimuli/sets/<slug:name>/generate/", views.generate, name="generate"),
    path("stimuli/sets/<slug:name>/manifest.csv", views.manifest, name="manifest"),
    path("stimuli/pictures/<int:pk>/", views.picture, name="picture"),
]
