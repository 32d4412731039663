"""The pre-flight check: everything that a launch depends on, tried out before anybody is invited.

A check is one function in `operation` or `terms`, registered by `@check`; `check` makes the checks, stores what they
said, tells whether the newest result still holds, and refuses a launch.
"""
