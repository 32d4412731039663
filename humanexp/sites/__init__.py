"""Sites of their own: they import nothing of the platform, and the platform imports nothing of them."""
