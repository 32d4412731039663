"""The pre-flight check: everything that a launch depends on, tried out before anybody is invited.

A check is one function in `addresses`, `materials`, `terms` or `operation`, registered by `@check`; `running` makes
the checks and stores what they said; `gate` tells whether the newest result still holds, and refuses a launch.
"""
