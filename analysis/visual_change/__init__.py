"""Visual change: how much of a picture's visible information a corruption destroys, and how its range is covered."""
