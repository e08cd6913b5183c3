"""``python -m benchmarks accuracy``: do models learn as well under the precision profiles as in float32?"""
