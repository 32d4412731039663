"""Pages on which a study is made and read."""
