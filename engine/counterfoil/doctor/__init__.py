"""What this machine has for Counterfoil, what is wrong with it, and the remedy for each.

What was seen (:mod:`counterfoil.doctor.observations`) is asked of the system in one place each: in this process
(:mod:`counterfoil.doctor.examination`), and in processes of their own for what may end a process
(:mod:`counterfoil.doctor.probe`, :mod:`counterfoil.doctor.boxprobe`, and the window's display). What it means is made
of it by pure functions (:mod:`counterfoil.doctor.findings`).
"""
