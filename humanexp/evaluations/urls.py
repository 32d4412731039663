from __future__ import annotations

from django.urls import path

from humanexp.evaluations import pages

app_name = "evaluations"
urlpatterns = [
    path("classifiers/", pages.classifiers, name="classifiers"),
    path("classifiers/new/", pages.new, name="new"),
    path("classifiers/upload/", pages.upload, name="upload"),
    path("classifiers/upload/take/", pages.take, name="take"),
    path("classifiers/models/new/", pages.upload_model, name="upload_model"),
    path("classifiers/<int:pk>/", pages.run, name="run"),
    path("classifiers/<int:pk>/kind/", pages.kind, name="kind"),
    path("classifiers/<int:pk>/delete/", pages.delete, name="delete"),
    path("classifiers/retraining/<int:pk>/", pages.retraining, name="retraining"),
    path("classifiers/retraining/<int:pk>/curve.<str:suffix>", pages.learning_curve, name="learning_curve"),
    path("stimuli/sources/<slug:name>/gold/", pages.select_gold, name="select_gold"),
]
