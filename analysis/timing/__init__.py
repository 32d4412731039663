"""How pictures were timed: the rules that judge one trial, and the certificate that sums up many."""
