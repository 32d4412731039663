"""Writes of this app: importing pictures, describing stimulus sets, recording what was made."""
