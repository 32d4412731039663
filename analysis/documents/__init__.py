"""A document described once: one HTML file that needs nothing else, and a PDF.

A `Document` is a title, facts and sections of blocks; figures and tables in it are those of `analysis.figures`, so that
page, paper and report show the same numbers.
"""
