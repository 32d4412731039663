"""What can be done to studies; every function takes keywords and is atomic."""
