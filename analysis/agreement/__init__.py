"""How far observers agree: in being right or wrong, in following shapes, and in judging pictures.

`error_consistency` is the published statistic of two observers who saw the same pictures, `pooled_consistency` its
form for crowds, in which any two people share few pictures or none; `kappa_difference` compares two models by their
kappa with one person. `soft_agreement` says how well a distribution predicts people's answers. `at_difficulties` places
a model over people's own accuracy, read by `ease_for_others` from answers that are not compared. `shape_bias` reads
answers to cue-conflict pictures. `label_agreement` says how far people agree on a picture, and `one_coin` who of them
can be relied on.
"""
