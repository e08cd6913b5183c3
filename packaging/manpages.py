"""Writes man pages and completions from the commands themselves: ``python packaging/manpages.py FOLDER``.

FOLDER gets the layout of /usr/share: ``man/man1``, ``bash-completion/completions``, ``zsh/vendor-completions`` and
``fish/vendor_completions.d``. The completions are lists, not calls of the program, which would take half a second at
each key. ``make package`` runs this with the packaged program.
"""

from __future__ import annotations

import gzip
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
import typer.main

from counterfoil import __version__
from counterfoil.cli.app import app

PROGRAM = "counterfoil"


@dataclass(frozen=True)
class Page:
    """A command and where it stands: ``("counterfoil", "export", "hub")``."""

    words: tuple[str, ...]
    command: Any
    context: Any

    @property
    def name(self) -> str:
        return "-".join(self.words)

    @property
    def parts(self) -> list[str]:
        return list(getattr(self.command, "commands", {}))

    @property
    def options(self) -> list[str]:
        return sorted(option for one in self.shown for option in (*one.opts, *one.secondary_opts) if option[0] == "-")

    @property
    def shown(self) -> list[Any]:
        """The parameters that its help names."""
        return [one for one in self.command.get_params(self.context) if one.get_help_record(self.context)]


def pages() -> Iterator[Page]:
    """The program and each of its commands."""

    def below(command: Any, words: tuple[str, ...], parent: Any) -> Iterator[Page]:
        command = getattr(command, "loaded", command)
        context = typer.Context(command, info_name=words[-1], parent=parent)
        yield Page(words, command, context)
        for name, part in getattr(command, "commands", {}).items():
            if not getattr(part, "hidden", False):
                yield from below(part, (*words, name), context)

    yield from below(typer.main.get_command(app), (PROGRAM,), None)


def roff(text: str) -> str:
    """A text as man reads it: no line is a request, and hyphens can be copied as such."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", r"\\&", escaped, flags=re.MULTILINE)


def man_page(page: Page, date: str) -> str:
    """A page of section 1."""
    about, _, more = (page.command.help or "").strip().partition("\n\n")
    summary = " ".join(about.split())
    usage = page.command.get_usage(page.context).partition(": ")[2]
    lines = [
        f'.TH "{roff(page.name.upper())}" "1" "{date}" "counterfoil {__version__}" "Counterfoil"',
        ".SH NAME",
        f"{roff(page.name)} \\- {roff(summary.rstrip('.'))}",
        ".SH SYNOPSIS",
        f".B {roff(' '.join(usage.split()))}",
        ".SH DESCRIPTION",
        roff(summary),
    ]
    for paragraph in filter(None, more.split("\n\n")):
        lines += [".PP", roff(" ".join(paragraph.split()))]
    records = [one.get_help_record(page.context) for one in page.shown]
    lines += [".SH OPTIONS"] * bool(records)
    for names, text in records:
        lines += [".TP", f".B {roff(names)}", roff(" ".join(text.split()))]
    lines += [".SH COMMANDS"] * bool(page.parts)
    for name in page.parts:
        part = page.command.commands[name]
        text = getattr(part, "loaded", part).help or ""
        lines += [".TP", f".BR {roff(page.name)}\\-{roff(name)} (1)", roff(" ".join(text.partition("\n\n")[0].split()))]
    if page.command.epilog:
        lines += [".SH EXIT STATUS", roff(page.command.epilog.removeprefix("Exit codes: "))]
    if len(page.words) > 1:
        lines += [".SH SEE ALSO", f".BR {roff('-'.join(page.words[:-1]))} (1)"]
    return "\n".join(lines) + "\n"


def bash(found: list[Page]) -> str:
    """A completion for bash: commands and options, else files."""
    cases = "\n".join(
        f'        "{" ".join(one.words)}") known="{" ".join([*one.parts, *one.options])}" ;;' for one in found
    )
    groups = "|".join(f'"{" ".join(one.words)}"' for one in found if one.parts)
    return f"""# Made from the commands by packaging/manpages.py.
_counterfoil() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" path="{PROGRAM}" known="" word
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$path" in {groups}) case "$word" in -*) ;; *) path="$path $word" ;; esac ;; esac
    done
    case "$path" in
{cases}
    esac
    mapfile -t COMPREPLY < <(compgen -W "$known" -- "$current")
}}
complete -o default -F _counterfoil {PROGRAM}
"""


def zsh(found: list[Page]) -> str:
    """A completion for zsh, by the same lists."""
    cases = "\n".join(
        f'    "{" ".join(one.words)}") known=({" ".join([*one.parts, *one.options])}) ;;' for one in found
    )
    groups = "|".join(f'"{" ".join(one.words)}"' for one in found if one.parts)
    return f"""#compdef {PROGRAM}
# Made from the commands by packaging/manpages.py.
_counterfoil() {{
  local word place={PROGRAM}
  local -a known
  for word in ${{words[2,CURRENT-1]}}; do
    case "$place" in ({groups}) [[ "$word" == -* ]] || place="$place $word" ;; esac
  done
  case "$place" in
{cases}
  esac
  compadd -- $known
  _files
}}
_counterfoil "$@"
"""


def fish(found: list[Page]) -> str:
    """A completion for fish, with what each command and option is for."""
    lines = ["# Made from the commands by packaging/manpages.py."]
    for one in found:
        there = [f"__fish_seen_subcommand_from {word}" for word in one.words[1:]]
        if one.parts:
            there.append(f"not __fish_seen_subcommand_from {' '.join(one.parts)}")
        condition = f"-n '{'; and '.join(there)}' " if there else ""
        for name in one.parts:
            part = one.command.commands[name]
            about = " ".join((getattr(part, "loaded", part).help or "").partition("\n\n")[0].split())
            lines.append(f"complete -c {PROGRAM} {condition}-a {name} -d {_quoted(about)}")
        for parameter in one.shown:
            for option in parameter.opts:
                if option.startswith("--"):
                    about = " ".join(parameter.help.split())
                    lines.append(f"complete -c {PROGRAM} {condition}-l {option[2:]} -d {_quoted(about)}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def write(folder: Path, epoch: int) -> int:
    """Write everything below a folder like /usr/share; returns how many man pages there are."""
    found = list(pages())
    manual = folder / "man" / "man1"
    manual.mkdir(parents=True, exist_ok=True)
    date = time.strftime("%Y-%m-%d", time.gmtime(epoch))
    for page in found:
        packed = gzip.compress(man_page(page, date).encode(), 9, mtime=0)
        (manual / f"{page.name}.1.gz").write_bytes(packed)
    for place, text in {
        f"bash-completion/completions/{PROGRAM}": bash(found),
        f"zsh/vendor-completions/_{PROGRAM}": zsh(found),
        f"fish/vendor_completions.d/{PROGRAM}.fish": fish(found),
    }.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text, encoding="utf-8")
    return len(found)


if __name__ == "__main__":
    print(f"Wrote {write(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)} man pages.")
