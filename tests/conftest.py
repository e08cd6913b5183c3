from __future__ import annotations

import os

# Before Qt is imported by anything: the tests draw off screen unless told otherwise.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
