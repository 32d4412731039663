"""From originals to stimuli: originals are prepared, stimuli planned, made in shards, and verified."""
