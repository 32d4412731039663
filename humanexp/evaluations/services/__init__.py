"""Writes of this app: classifiers asked about stimuli and originals, and their answers."""
