"""The findings as values: one definition behind JSON, charts, tables, texts and exports."""
