"""All that is measured on a GPU, in one command: ``python -m benchmarks gpu``.

:mod:`.parts` says what there is, :mod:`.runner` does it in processes of their own within a time, and :mod:`.store`
keeps each result as a file as soon as it is there, so that a run that was stopped goes on. :mod:`.page` writes what was
found, from these files alone.
"""
