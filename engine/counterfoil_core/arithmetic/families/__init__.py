"""What is computed of each family of operators, in a module of its name: scales, forms, and definitions.

**Scales.** For each rounded operator a bound S on the size of the terms that make an element of its output. The error
of a computed sum is at most gamma_n times the sum of the magnitudes of its terms (Higham 2002, section 4.2), so it
scales with S and not with the result, which may have cancelled. Where the terms are products, Cauchy-Schwarz bounds
their sum by the product of two norms. S only has to be a bound within a modest factor: the grid needs its exponent
alone. docs/numerics.md derives each rule; an operator's declaration (:mod:`counterfoil_core.operators.facts`) says
which is its own.

**Forms** of our own for operators whose sums are long: blocks that are summed, and then their sums. A library adds n
terms in an order of its own, and the error bound of that grows with n. Here an axis is cut into blocks of about its
square root, and axes are summed one after another, so that a term passes through about 2 sqrt(n) additions. Variances
take two passes, products are cut into parts, and elements that meet at one index are first added in groups. Which
uses of an operator are computed so follows from shapes alone (:mod:`counterfoil_core.operators.sums`). A form is a
small program of ATen operators, its pieces. The pieces that sum or call a library function go through ``run``, so
that another machine can be imitated piece by piece; what stands beside them is one correctly rounded operation per
element.

**Definitions** of the exact profiles compute an operator in one way, on every machine the same.
"""
