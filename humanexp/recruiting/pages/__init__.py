"""The pages about campaigns and their people."""
