"""The public scripts that are tried: the table that ``python -m tests.scripts`` goes through."""

from __future__ import annotations

from tests.scripts.entries.adversarial import ADVERSARIAL
from tests.scripts.entries.environments import ENVIRONMENTS
from tests.scripts.entries.frameworks import FRAMEWORKS
from tests.scripts.entries.libraries import LIBRARIES
from tests.scripts.entries.loops import LOOPS
from tests.scripts.entries.research import RESEARCH
from tests.scripts.entries.tutorials import TUTORIALS

SCRIPTS = (*LOOPS, *FRAMEWORKS, *LIBRARIES, *ADVERSARIAL, *ENVIRONMENTS, *TUTORIALS, *RESEARCH)
