"""Anything that speaks MTurk's requester API: Amazon's two endpoints and our marketplace."""
