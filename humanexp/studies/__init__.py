"""Studies: authoring, members, the design page, power."""
