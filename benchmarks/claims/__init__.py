"""One script a claim: how often it is wrong, in studies whose truth is known. See `__main__`."""
