"""The requester API's operations, one module per noun. A module here registers what it defines; that is all."""
