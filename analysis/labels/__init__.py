"""Sets of labels: which answers a trial has, what they are called, and which outputs of networks stand for them."""
