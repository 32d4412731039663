"""Migrations alone: the tables of `studies` and `participation` were made here, and keep their names."""
