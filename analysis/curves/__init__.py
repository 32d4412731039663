"""Performance curves over visual change: binning, monotone spline, bootstrap bands."""
