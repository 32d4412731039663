"""Sets of pictures that are published to be answered by any model: their description, their files, their scores."""
