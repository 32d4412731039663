"""Tables of campaigns and people."""
