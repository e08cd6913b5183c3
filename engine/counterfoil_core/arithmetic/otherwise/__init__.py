"""The same step by other algorithms, as other hardware would compute it.

Nobody is accused before a step came out the same this way too (:mod:`counterfoil_core.replay.replayer`), so this
imitated hardware is part of what a verdict rests on, and no laboratory.
"""
