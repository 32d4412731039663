"""A figure described once: plotly JSON for the page, an SVG, PDF or PNG file for the paper.

A `Figure` says what is drawn (series, axes, marks) and by whom (people or a classifier); `style_of` says how an
observer looks. Both renderers, `page` and `paper`, read the same value, so that screen and paper cannot disagree.
"""
