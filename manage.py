#!/usr/bin/env python
"""Run a HumanExp command: python manage.py help."""

from __future__ import annotations

from humanexp.__main__ import main

if __name__ == "__main__":
    main()
