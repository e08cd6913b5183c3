"""Scale rules: for each rounded operator a bound S on the size of the terms that make an element of its output.

The error of a computed sum is at most gamma_n times the sum of the magnitudes of its terms (Higham 2002, section 4.2),
so it scales with S and not with the result, which may have cancelled. Where the terms are products, Cauchy-Schwarz
bounds their sum by the product of two norms. S only has to be a bound within a modest factor: the grid needs its
exponent alone. docs/numerics.md derives each rule.

Each family of operators has its rules in a module of its name; an operator's declaration
(:mod:`counterfoil_core.operators.facts`) says which is its own.
"""
