"""Whoever sends people: the port, one adapter each, and the tables of campaigns and people."""
