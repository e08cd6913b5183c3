"""Work in many tasks: done in processes of their own, each result kept as it comes, gone on with where it was stopped.

A :mod:`.task` is the smallest piece whose result is kept; :mod:`.store` keeps results as files, :mod:`.process` does
tasks, and :mod:`.runner` has done what is left, within a time.
"""
