"""The pages of docs/: whom each is for, where it stands, what it links to, how long its sentences are; and the site."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from support.scripts import load_script

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
NO_PAGES = {"adr/template.md"}
"""Files of docs/ that nobody reads as a page."""
PAGES = sorted(
    path.relative_to(DOCS).as_posix()
    for path in DOCS.rglob("*.md")
    if path.relative_to(DOCS).as_posix() not in NO_PAGES
)
MOST_WORDS = 35
site = load_script(ROOT / "packaging" / "docs_site.py")


@cache
def text(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def listed(page: str) -> list[tuple[str, str]]:
    """The pages that a page lists, each with the section that it stands in."""
    section, found = "", []
    for line in text(page).splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ")
        if target := re.match(r"[-|] \[[^\]]+\]\(([\w./-]+\.md)\)", line):
            found.append((section, target[1]))
    return found


def opening(page: str) -> str:
    """The paragraph that says whom a page is for and what it answers, within the page's first twelve lines."""
    found = re.search(r"\n\n(\*For\*: \S.*\n(?:.+\n)*?\*Answers\*: \S.*\n(?:.+\n)*)\n", text(page) + "\n")
    if not found or text(page)[: found.end(1)].count("\n") > 12:
        return ""
    return found[1]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_begins_with_whom_it_is_for_and_what_it_answers(page: str) -> None:
    assert 2 <= opening(page).count("\n") <= 5


def test_the_index_lists_every_page_in_one_place() -> None:
    decisions = [f"adr/{target}" for _, target in listed("adr/README.md")]
    # A page for each GPU that was measured, if any was.
    cards = [target for _, target in listed("cross-hardware.md") if target.startswith("gpu-results/")]
    assert sorted(["index.md", *(target for _, target in listed("index.md")), *decisions, *cards]) == PAGES


def test_the_index_sorts_by_what_a_reader_wants() -> None:
    sections = list(dict.fromkeys(section for section, _ in listed("index.md")))
    assert sections == ["Tutorials", "How-to", "Reference", "Explanation"]


def without_code(page: str) -> str:
    return re.sub(r"^(```+).*?^\1$", "", page, flags=re.MULTILINE | re.DOTALL)


def anchors(page: str) -> set[str]:
    """The places of a page that a link can name, as forges make them of its headings."""
    seen: dict[str, int] = {}
    made = set()
    for heading in re.findall(r"^#+ (.+?)\s*$", without_code(page), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        made.add(f"{name}-{seen[name]}" if name in seen else name)
        seen[name] = seen.get(name, 0) + 1
    return made


def links(page: str) -> list[str]:
    return re.findall(r"\]\((?!https?:|mailto:)([^)\s]+)\)", without_code(page))


def lost_links(document: Path) -> list[str]:
    """The links of a document whose file or place is not there."""
    lost = []
    for link in links(document.read_text(encoding="utf-8")):
        target, _, place = link.partition("#")
        file = document.parent / target if target else document
        if not file.exists() or (
            place and file.suffix == ".md" and place not in anchors(file.read_text(encoding="utf-8"))
        ):
            lost.append(link)
    return lost


DOCUMENTS = [*(DOCS / page for page in PAGES), *sorted(ROOT.glob("*.md")), ROOT / "tests" / "vectors" / "README.md"]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_to_a_file_and_to_a_place_in_it(document: Path) -> None:
    assert lost_links(document) == []


def test_control_a_link_to_a_place_that_is_gone_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# One `thing`\n## Two, and\n## Two, and\n[x](#one-thing) [y](b.md#no) [z](c.md)\n")
    (tmp_path / "b.md").write_text("# B\n```\n# no\n```\n[x](a.md#two-and-1)\n")
    assert lost_links(tmp_path / "a.md") == ["b.md#no", "c.md"]
    assert lost_links(tmp_path / "b.md") == []


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_plain_markdown(page: str) -> None:
    """What MyST, MkDocs or a template would read, and a forge would show as it stands."""
    dialect = re.findall(r"^(?:```+ ?\{|:::|!!!|%\}|\+\+\+$|\(\w[\w-]*\)=$)|\{%|^\{\{", text(page), re.MULTILINE)
    assert dialect == []


def sentences(page: str) -> list[str]:
    """The sentences of a page: code, tables and headings are left out, and a link is its text."""
    blocks, current = [], ""
    for line in [*without_code(page).splitlines(), ""]:
        stripped = line.strip()
        begins = re.match(r"(?:[-*]|\d+\.)\s+", stripped)
        if not stripped or begins or stripped.startswith(("|", "#")) or (line.startswith("    ") and not current):
            blocks.append(current)
            current = stripped[begins.end() :] if begins else ""
        else:
            current += f" {stripped}"
    found = []
    for block in blocks:
        plain = re.sub(r"`[^`]+`", "code", block)
        plain = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", plain)
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", plain)
        found += re.split(r"(?<=[.!?:])[)\"*]*\s+(?=[A-Z(\"*]|code\b)", plain)
    return found


def words(sentence: str) -> int:
    return len([word for word in sentence.split() if re.search(r"\w", word)])


@pytest.mark.parametrize("page", [page for section, page in listed("index.md") if section in ("Tutorials", "How-to")])
def test_no_sentence_of_a_tutorial_or_a_how_to_is_long(page: str) -> None:
    long = [sentence for sentence in sentences(text(page)) if words(sentence) > MOST_WORDS]
    assert long == []


def test_control_a_long_sentence_is_found_and_code_is_not_counted() -> None:
    fill = " ".join(["Word", *["word"] * 29])
    page = (
        f"# T\n\n{fill}. {fill} `a b c d e f g`.\n\n```\n{fill} {fill}\n```\n\n- {fill}\n- {fill}\n| {fill} {fill} |\n"
    )
    assert max(map(words, sentences(page))) == 31
    assert [words(each) for each in sentences(f"{fill}\n{fill} [end](x.md).\n")] == [61]


def test_the_program_that_makes_the_site_finds_a_broken_link(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="b.html#there">1</a><a href="#x">2</a><a href="https://e.org/">3</a>')
    (tmp_path / "b.html").write_text('<h1 id="there">B</h1><img src="c.png"><a href="a.html">4</a>')
    assert site.broken_links(tmp_path) == [
        "a.html links to #x, which is not there",
        "b.html links to c.png, which is not there",
    ]


def test_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(site, "find_spec", lambda name: None if name == "furo" else object())
    assert site.main() == 1
    said = capsys.readouterr().err
    assert "needs furo." in said
    assert ",docs]" in said


@pytest.mark.slow
@pytest.mark.skipif(
    any(find_spec(module) is None for module in site.NEEDED), reason="make docs needs the extra 'docs' (Sphinx)"
)
def test_the_site_is_made_without_a_warning_and_with_every_command_and_name(tmp_path: Path) -> None:
    import counterfoil
    from counterfoil.cli.commands import PLACES

    command = [sys.executable, str(ROOT / "packaging" / "docs_site.py"), str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {f"{page.removesuffix('.md')}.html" for page in PAGES} <= {
        path.relative_to(tmp_path / "site").as_posix() for path in (tmp_path / "site").rglob("*.html")
    }
    index = (tmp_path / "site" / "genindex.html").read_text(encoding="utf-8")
    assert all(f'api.html#counterfoil.{name}"' in index for name in counterfoil.__all__)
    said = (tmp_path / "site" / "commands.html").read_text(encoding="utf-8")
    assert all(f">counterfoil {name}<" in said for name in PLACES)
