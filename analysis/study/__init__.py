"""What a study is, in one place: protocol, design, rules, terms and analysis plan.

Files, forms, stored values, refusals, the documents and the API read these models and nothing else. A setting is one
line here: its type, limits and default, what it means, and whether the form has a field for it.
"""
