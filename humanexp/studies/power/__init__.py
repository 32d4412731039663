"""What a planned study could show, before anybody is invited."""
