from __future__ import annotations

from django.urls import path

from humanexp.evaluations import views

app_name = "evaluations"
urlpatterns = [
    path("classifiers/", views.classifiers, name="classifiers"),
    path("stimuli/sources/<slug:name>/gold/", views.select_gold, name="select_gold"),
]
