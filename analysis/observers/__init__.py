"""Observers that are asked in words: what they are asked, how their answers are read, and what the answers say."""
