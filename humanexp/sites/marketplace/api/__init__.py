"""The requester API: MTurk's protocol, its operations, and the one view that answers them."""
