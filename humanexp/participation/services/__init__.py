"""What can be done to sessions; every function takes keywords and is atomic."""
