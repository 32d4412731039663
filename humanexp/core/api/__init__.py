"""What every API of the platform has in common: bodies that are read, and errors as problem JSON."""
