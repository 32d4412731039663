"""What a planned study could show, by simulation, before any money is spent."""
