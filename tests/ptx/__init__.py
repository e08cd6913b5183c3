"""A machine that executes, on the CPU, the PTX that Triton compiles the kernels to; and a Triton driver that uses it.

:mod:`ptx.driver` is where to begin: ``with compiled_for(90): ...`` launches kernels on the machine.
"""
