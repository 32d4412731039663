"""What every change must pass: `python -m tests.gate`, and the plugins of pytest that its rings are made with."""
