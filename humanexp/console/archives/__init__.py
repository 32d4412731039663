"""Archives of a whole installation, and moves to another database.

Rows leave and enter a database through `tables`, whatever database it is: an archive of SQLite can be restored into
PostgreSQL, into a newer version of it, and into a scratch database that proves that the archive can be restored.
"""
