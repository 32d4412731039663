"""Views, forms and what pages show."""
