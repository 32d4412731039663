"""A marketplace of the lab's own that speaks MTurk's requester API: a Django site by itself, reached over HTTP alone.

Nothing here imports the platform and nothing in the platform imports this.
"""
