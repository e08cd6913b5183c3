"""Makes the window's fonts from Inter and JetBrains Mono.

    npm pack inter-ui@4.1.1 jetbrains-mono@1.0.6
    pip install fonttools brotli
    python packaging/fonts.py inter-ui-4.1.1.tgz jetbrains-mono-1.0.6.tgz

Both are under the SIL Open Font License without a reserved name. What is changed: 13 pixels of text stand on a line of
20, in every widget and on paper; digits are all of one width; glyphs of scripts that the window's texts do not use, and
ligatures, are left out. The changed fonts have names of their own, so that they are never mixed up with installed ones.
"""

from __future__ import annotations

import hashlib
import io
import sys
import tarfile
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

TARGET = Path(__file__).resolve().parent.parent / "resources" / "counterfoil_resources" / "fonts"
INTER_FACES = {
    "package/web/Inter-Regular.woff2": "text-regular.ttf",
    "package/web/Inter-SemiBold.woff2": "text-semibold.ttf",
    "package/web/Inter-Bold.woff2": "text-bold.ttf",
}
MONO_FACES = {
    "package/fonts/webfonts/JetBrainsMonoNL-Regular.woff2": "mono-regular.ttf",
    "package/fonts/webfonts/JetBrainsMonoNL-Bold.woff2": "mono-bold.ttf",
}
TEXT, MONO = "Counterfoil Text", "Counterfoil Mono"
PIXELS, ABOVE, BELOW = 13, 15, 5
"""A text of 13 pixels has 15 above the base line and 5 below."""
RANGES = (
    (0x0020, 0x024F), (0x02B0, 0x03FF), (0x0400, 0x052F), (0x1E00, 0x1EFF), (0x2000, 0x209F), (0x20A0, 0x20BF),
    (0x2100, 0x22FF), (0x2300, 0x23FF), (0x2500, 0x27BF), (0xFB00, 0xFB04), (0xFFFD, 0xFFFD),
)  # fmt: skip
LETTERS = "abcdefghijklmnopqrstuvwxyz "
FEATURES = ["ccmp", "kern", "locl", "mark", "mkmk"]


def face(content: bytes, family: str) -> TTFont:
    """A font with our line, our name, digits of one width, and only what the window's texts use."""
    font = TTFont(io.BytesIO(content), recalcTimestamp=False)
    _level_digits(font)
    options = Options()
    options.layout_features = FEATURES
    options.name_IDs = ["*"]
    options.notdef_outline = True
    options.hinting = False
    options.recalc_average_width = False
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=[code for first, last in RANGES for code in range(first, last + 1)])
    subsetter.subset(font)
    _set_line(font)
    _rename(font, family)
    font.flavor = None
    return font


def _level_digits(font: TTFont) -> None:
    """Let the digits be those that columns of numbers are set in."""
    if "GSUB" not in font:
        return
    table = font["GSUB"].table
    level: dict[str, str] = {}
    for record in table.FeatureList.FeatureRecord:
        if record.FeatureTag == "tnum":
            for number in record.Feature.LookupListIndex:
                for part in table.LookupList.Lookup[number].SubTable:
                    level |= getattr(part, "ExtSubTable", part).mapping
    for cmap in font["cmap"].tables:
        for code in range(ord("0"), ord("9") + 1):
            if code in cmap.cmap:
                cmap.cmap[code] = level.get(cmap.cmap[code], cmap.cmap[code])


def _set_line(font: TTFont) -> None:
    units = font["head"].unitsPerEm
    above, below = units * ABOVE // PIXELS, units * BELOW // PIXELS  # rounded down: a renderer rounds up
    line, windows = font["hhea"], font["OS/2"]
    line.ascent, line.descent, line.lineGap = above, -below, 0
    windows.sTypoAscender, windows.sTypoDescender, windows.sTypoLineGap = above, -below, 0
    windows.usWinAscent, windows.usWinDescent = above, below
    # Widths are reckoned in average characters; that of all glyphs, symbols among them, is none of a text.
    names, widths = font.getBestCmap(), font["hmtx"]
    windows.xAvgCharWidth = sum(widths[names[ord(letter)]][0] for letter in LETTERS) // len(LETTERS)


def _rename(font: TTFont, family: str) -> None:
    names = font["name"]
    style = names.getDebugName(17) or names.getDebugName(2)
    whole, plain = f"{family} {style}", f"{family}-{style}".replace(" ", "")
    regular = style if style in ("Regular", "Bold") else "Regular"
    new = {
        1: family if style == regular else whole,
        2: regular,
        3: plain,
        4: whole,
        6: plain,
        16: family,
        17: style,
    }
    for record in list(names.names):
        if record.nameID in (21, 22, 25):
            names.removeNames(nameID=record.nameID)
    for number, value in new.items():
        names.setName(value, number, 3, 1, 0x409)
        if names.getName(number, 1, 0, 0) is not None:
            names.setName(value, number, 1, 0, 0)


def main() -> None:
    """Write the fonts, and print what they were made from."""
    inter, mono = map(Path, sys.argv[1:3])
    TARGET.mkdir(exist_ok=True)
    for package, faces, family in ((inter, INTER_FACES, TEXT), (mono, MONO_FACES, MONO)):
        print(f"{package.name}: SHA-256 {hashlib.sha256(package.read_bytes()).hexdigest()}")
        with tarfile.open(package) as archive:
            for source, target in faces.items():
                member = archive.extractfile(source)
                if member is None:
                    raise FileNotFoundError(f"{package} holds no {source}")
                face(member.read(), family).save(TARGET / target)
                print(f"  {target}: {(TARGET / target).stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
