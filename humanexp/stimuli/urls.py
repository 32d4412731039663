from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from humanexp.stimuli.pages.views import browse, sets, sources

app_name = "stimuli"
urlpatterns: list[URLPattern | URLResolver] = [
    path("stimuli/", sets.stimulus_sets, name="stimulus_sets"),
    path("stimuli/new/", sets.new, name="new"),
    path("stimuli/new/estimate/", sets.estimate, name="estimate"),
    path("stimuli/new/examples/<slug:function>/", sets.example, name="example"),
    path("stimuli/compare/", sets.compare, name="compare"),
    path("stimuli/compare.json", sets.compare_json, name="compare_json"),
    path("stimuli/compare.<slug:suffix>", sets.compare_file, name="compare_file"),
    path("stimuli/sets/<slug:name>/", sets.stimulus_set, name="stimulus_set"),
    path("stimuli/sets/<slug:name>/generate/", sets.generate, name="generate"),
    path("stimuli/sets/<slug:name>/manifest.csv", sets.manifest, name="manifest"),
    path("stimuli/sets/<slug:name>/coverage.json", sets.coverage_json, name="coverage_json"),
    path("stimuli/sets/<slug:name>/coverage.<slug:suffix>", sets.coverage_file, name="coverage_file"),
    path("stimuli/sets/<slug:name>/delete/", sets.delete, name="delete"),
    path("stimuli/sets/<slug:name>/browse/", browse.browse, name="browse"),
    path("stimuli/sets/<slug:name>/browse/<slug:key>/", browse.stimulus, name="stimulus"),
    path("stimuli/sets/<slug:name>/walk/", browse.walk, name="walk"),
    path("stimuli/sets/<slug:name>/walk/<int:image>/<slug:function>/<int:step>/", browse.walk_step, name="walk_step"),
    path("stimuli/sources/new/", sources.new_source, name="new_source"),
    path("stimuli/sources/<slug:name>/", sources.source_set, name="source_set"),
    path("stimuli/sources/<slug:name>/notes/", sources.describe, name="describe_source"),
    path("stimuli/sources/<slug:name>/freeze/", sources.freeze, name="freeze_source"),
    path("stimuli/sources/<slug:name>/delete/", sources.delete_source, name="delete_source"),
    path("stimuli/originals/<int:pk>/<slug:size>.jpg", sources.thumbnail, name="original"),
    path("stimuli/pictures/<int:pk>/", browse.picture, name="picture"),
    path("stimuli/pictures/<int:pk>/small/", browse.small, name="small"),
]
