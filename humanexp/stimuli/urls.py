from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from humanexp.stimuli.pages import labels, set_browser, views

app_name = "stimuli"
urlpatterns: list[URLPattern | URLResolver] = [
    path("stimuli/", views.stimulus_sets, name="stimulus_sets"),
    path("stimuli/new/", views.new, name="new"),
    path("stimuli/new/estimate/", views.estimate, name="estimate"),
    path("stimuli/new/examples/<slug:function>/", views.example, name="example"),
    path("stimuli/sets/<slug:name>/", views.stimulus_set, name="stimulus_set"),
    path("stimuli/sets/<slug:name>/generate/", views.generate, name="generate"),
    path("stimuli/sets/<slug:name>/manifest.csv", views.manifest, name="manifest"),
    path("stimuli/sets/<slug:name>/coverage.json", views.coverage_json, name="coverage_json"),
    path("stimuli/sets/<slug:name>/coverage.<slug:suffix>", views.coverage_file, name="coverage_file"),
    path("stimuli/sets/<slug:name>/delete/", views.delete, name="delete"),
    path("stimuli/sets/<slug:name>/browse/", set_browser.browse, name="browse"),
    path("stimuli/sets/<slug:name>/browse/<slug:key>/", set_browser.stimulus, name="stimulus"),
    path("stimuli/sources/new/", views.new_source, name="new_source"),
    path("stimuli/sources/<slug:name>/", views.source_set, name="source_set"),
    path("stimuli/sources/<slug:name>/notes/", views.describe, name="describe_source"),
    path("stimuli/sources/<slug:name>/freeze/", views.freeze, name="freeze_source"),
    path("stimuli/sources/<slug:name>/delete/", views.delete_source, name="delete_source"),
    path("stimuli/labels/", labels.label_spaces, name="labels"),
    path("stimuli/labels/new/", labels.new_labels, name="new_labels"),
    path("stimuli/labels/<slug:name>/", labels.label_space, name="label_space"),
    path("stimuli/labels/<slug:name>/labels.<slug:suffix>", labels.labels_file, name="labels_file"),
    path("stimuli/labels/<slug:name>/delete/", labels.delete_label_space, name="delete_labels"),
    path("stimuli/originals/<int:pk>/<slug:size>.jpg", views.thumbnail, name="original"),
    path("stimuli/pictures/<int:pk>/", set_browser.picture, name="picture"),
    path("stimuli/pictures/<int:pk>/small/", set_browser.small, name="small"),
]
