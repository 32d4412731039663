"""Pictures made against a model, judged by an oracle."""
