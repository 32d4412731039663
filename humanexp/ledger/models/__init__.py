"""Tables of what is sent to recruiters, and of what shows that it arrived."""
