"""Classifiers behind one port, loaded by a string such as ``export:model.pt2`` or ``timm:resnet50``.

A new kind of classifier is one function in a file of its own and one line in `loading.SCHEMES`.
"""
