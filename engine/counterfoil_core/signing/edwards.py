"""Which 32 bytes are an Ed25519 public key that only its owner can sign with (RFC 8032, sections 5.1.3 and 5.1.4).

For a point of small order signatures are known that hold for many messages or all, and a point in another encoding is
the same key under another key id. Libraries differ in what they take of these (Chalkias, Garillot, Nikolaenko: "Taming
the Many EdDSAs", 2020), so whoever reads with another library would read something else. An honest key is a point of
the prime order L, in its one encoding; nothing else is taken.
"""

from __future__ import annotations

P = 2**255 - 19
"""The field's modulus."""
L = 2**252 + 27742317777372353535851937790883648493
"""The order of the base point, a prime; the curve has 8 L points."""
D = -121665 * pow(121666, -1, P) % P
"""The curve is -x^2 + y^2 = 1 + D x^2 y^2."""
KEY_BYTES = 32
_ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)
_Point = tuple[int, int, int, int]
"""X, Y, Z, T: the affine point is (X/Z, Y/Z), and XY = ZT."""
_NEUTRAL: _Point = (0, 1, 1, 0)


def is_prime_order_point(encoding: bytes) -> bool:
    """Return whether 32 bytes are the one encoding of a point of order L.

    Refused are: another length, a coordinate of P or more, a sign without an x, what is no point of the curve, the
    eight points of small order, and sums of one of these with another point.
    """
    point = _decoded(encoding)
    return point is not None and not _is_neutral(point) and _is_neutral(_times(L, point))


def _decoded(encoding: bytes) -> _Point | None:
    if len(encoding) != KEY_BYTES:
        return None
    number = int.from_bytes(encoding, "little")
    sign, y = number >> 255, number & (2**255 - 1)
    if y >= P:
        return None
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    if v * x * x % P == -u % P:
        x = x * _ROOT_OF_MINUS_ONE % P
    if v * x * x % P != u or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


def _sum(one: _Point, other: _Point) -> _Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % P
    b = (one[1] + one[0]) * (other[1] + other[0]) % P
    c = 2 * one[3] * other[3] * D % P
    d = 2 * one[2] * other[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def _times(factor: int, point: _Point) -> _Point:
    result = _NEUTRAL
    while factor:
        if factor & 1:
            result = _sum(result, point)
        point = _sum(point, point)
        factor >>= 1
    return result


def _is_neutral(point: _Point) -> bool:
    return point[0] == 0 and point[1] == point[2]
