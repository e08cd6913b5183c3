"""Forms of our own for operators whose sums are long: blocks that are summed, and then their sums.

A library adds n terms in an order of its own, and the error bound of that grows with n. Here an axis is cut into blocks
of about its square root, and axes are summed one after another, so that a term passes through about 2 sqrt(n)
additions. Variances take two passes, products are cut into parts, and elements that meet at one index are first added
in groups. Which uses of an operator are computed so follows from shapes alone (:mod:`counterfoil_core.operators.sums`).

A form is a small program of ATen operators, its pieces. The pieces that sum or call a library function go through
``run``, so that another machine can be imitated piece by piece; what stands beside them is one correctly rounded
operation per element.

Each family of operators has its forms in a module of its name.
"""
