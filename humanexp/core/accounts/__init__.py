"""Researchers' accounts: made by an operator, their passwords chosen by whoever holds them."""
