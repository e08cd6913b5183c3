"""What this machine has for Counterfoil, what is wrong with it, and the remedy for each.

What was seen (:mod:`counterfoil.doctor.seen`) is asked of the system in one place each: in this process
(:mod:`counterfoil.doctor.looking`), and in processes of their own for what may end a process
(:mod:`counterfoil.doctor.probing`, :mod:`counterfoil.doctor.closing`, and the window's display). What it means is made
of it by pure functions (:mod:`counterfoil.doctor.findings`).
"""
