"""What is being ordered: which form, what was chosen in each, and where it runs. No widget, and nothing is carried out.

What was typed is kept for every form, so that to choose another one and come back loses nothing.
"""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from PySide6.QtCore import QSettings

from counterfoil import PROFILE_COSTS, CommandForm, CommandOption, order_command, order_forms

OUT, TRIAL, PRECISION = "out", "trial", "precision"
SCRIPT = "script"
"""The option that names a script."""
FOLDER = "own_code_folder"
"""Where a client's own code runs: no option of the command, and kept beside them."""
HIDDEN = (OUT, "key", "force", "external_data", "signers")
"""Options that the wizard does not show: it says itself where the file goes, and an order is signed afterwards."""
DATA = (
    "folder", "data", "text", "columns", "rows", "features", "tokenizer", "weights", "script", "source", "arguments",
)  # fmt: skip
"""Options that say what the model learns from."""
FIRST = (
    "model", "layout", "size", "layers", "heads", "width", "context", "sequence", "task", "lora", "epochs", "steps",
    "max_steps", "counts", "compare", "batch_size", "learning_rate", "shares", "seed", "checkpoint_every",
    "last_checkpoint",
)  # fmt: skip
"""Options that most orders think about, in this order; the others are folded."""
PREVIEWED = ("data", "text", SCRIPT)
"""Options that name what can be looked at."""
_GROUP = "order"
_MOST_CHARACTERS = 4096


class Stage(Enum):
    """The pages, in their order."""

    WHAT = 0
    DATA = 1
    SETTINGS = 2
    TRY = 3
    SAVE = 4


class OrderPlan:
    """What is being ordered.

    Args:
        store: Remembers it from one time to the next.
    """

    def __init__(self, store: QSettings) -> None:
        self._store = store
        self._forms = {form.name: form for form in order_forms()}
        chosen = store.value(f"{_GROUP}/form")
        self.form: CommandForm = self._forms.get(str(chosen), next(iter(self._forms.values())))
        self._values = {name: self._remembered(form) for name, form in self._forms.items()}

    @property
    def forms(self) -> tuple[CommandForm, ...]:
        """What can be ordered."""
        return tuple(self._forms.values())

    def choose(self, name: str) -> None:
        """Order something else."""
        self.form = self._forms[name]

    def value(self, name: str) -> str:
        """What an option is: what was typed, or its default."""
        option = self.form.option(name)
        return self._values[self.form.name].get(name, "" if option is None else option.default)

    def set(self, name: str, text: str) -> None:
        """Take what was typed."""
        self._values[self.form.name][name] = text

    def options(self, stage: Stage) -> tuple[CommandOption, ...]:
        """The options of a page, those that most orders think about first."""
        shown = [each for each in self.form.options if each.name not in (*HIDDEN, TRIAL, PRECISION)]
        if stage is Stage.DATA:
            return tuple(each for each in shown if each.name in DATA)
        if stage is not Stage.SETTINGS:
            return ()
        rest = [each for each in shown if each.name not in DATA]
        return tuple(sorted(rest, key=lambda each: FIRST.index(each.name) if each.name in FIRST else len(FIRST)))

    def stage_of(self, option: str) -> Stage:
        """The page on which an option is chosen; that of the trial for what stands on none."""
        if option == OUT:
            return Stage.SAVE
        if option == FOLDER or option in DATA:
            return Stage.DATA
        return Stage.SETTINGS if self.form.option(option) and option not in (*HIDDEN, TRIAL) else Stage.TRY

    def missing(self, stage: Stage) -> CommandOption | None:
        """The first option of a page that must be said and is not."""
        return next((each for each in self.options(stage) if each.required and not self.value(each.name).strip()), None)

    def wrong(self, stage: Stage) -> tuple[CommandOption, ...]:
        """The options of a page whose value cannot be one."""
        return tuple(each for each in self.options(stage) if not fits(each, self.value(each.name)))

    @property
    def previewed(self) -> Path | None:
        """What can be looked at; None where a recipe brings its data, or nothing is named yet."""
        named = next((self.value(name).strip() for name in PREVIEWED if self.form.option(name)), "")
        return Path(named).expanduser() if named else None

    @property
    def brings_data(self) -> bool:
        """Whether the recipe brings its data itself."""
        return not self.form.own_code and not self.options(Stage.DATA)

    @property
    def compares(self) -> bool:
        """Whether what is ordered is held against what a script itself does."""
        return self.form.option("compare") is not None

    @property
    def profiles(self) -> tuple[str, ...]:
        """The precision profiles, those whose price was measured first."""
        option = self.form.option(PRECISION)
        choices = () if option is None else option.choices
        measured = [name for name in PROFILE_COSTS if name in choices]
        return (*measured, *(name for name in choices if name not in measured))

    @property
    def folder(self) -> Path | None:
        """Where a client's own code runs; None for a recipe."""
        if not self.form.own_code:
            return None
        named = self.value(FOLDER).strip()
        script = self.value(SCRIPT).strip()
        return Path(named or (Path(script).expanduser().parent if script else Path.home())).expanduser().absolute()

    def arguments(self, out: Path) -> tuple[str, ...]:
        """The arguments of ``counterfoil order``, with paths that are the same everywhere; raises DataError."""
        values = {name: self._spelt(name, text) for name, text in self._values[self.form.name].items()}
        return self.form.arguments({**values, OUT: str(out.absolute())})

    def command(self, out: Path) -> str:
        """The command line that orders the same; raises DataError."""
        folder = self.folder
        return order_command(self.arguments(out), "" if folder is None else str(folder))

    def remember(self) -> None:
        """Keep it for the next time."""
        self._store.setValue(f"{_GROUP}/form", self.form.name)
        for name, values in self._values.items():
            for option, text in values.items():
                self._store.setValue(f"{_GROUP}/{name}/{option}", text)

    def _remembered(self, form: CommandForm) -> dict[str, str]:
        found = {}
        for name in (*(option.name for option in form.options if option.name not in HIDDEN), FOLDER):
            held = self._store.value(f"{_GROUP}/{form.name}/{name}")
            if isinstance(held, str) and len(held) <= _MOST_CHARACTERS:
                found[name] = held
        return found

    def _spelt(self, name: str, text: str) -> str:
        option = self.form.option(name)
        if option is None or option.kind not in ("file", "folder") or not text.strip():
            return text
        return str(Path(text.strip()).expanduser().absolute())


def fits(option: CommandOption, text: str) -> bool:
    """Whether a text can be the value of an option; an empty one is left to the command."""
    text = text.strip()
    if not text or option.kind not in ("integer", "number"):
        return True
    try:
        number = int(text) if option.kind == "integer" else float(text)
    except ValueError:
        return False
    least = option.least is None or number >= option.least
    return least and (option.most is None or number <= option.most)
