"""Study plans: which picture stands where in which session, from originals, stimuli, a configuration and a seed.

``plan_study`` makes the plan, ``StudyPlan`` holds it and writes it to a file, ``without_seen`` adapts one session for a
person who has already seen some of the originals.
"""
