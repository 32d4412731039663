"""Writes of this app: searches, rounds judged by people, frozen benchmarks, searches read together."""
