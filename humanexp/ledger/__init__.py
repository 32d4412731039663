"""Money: what was promised, is owed and was paid, and everything that is sent to recruiters."""
