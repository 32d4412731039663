"""The way of a participant: in, back and out."""
