"""What every page has to be like in a browser, whatever is on it."""

from __future__ import annotations

from pathlib import Path

from tests.browser.chromium import Tab

WIDTHS = (1280, 390)

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# text in the picture that reaches out of its own tile or box
SPILLED = """[...document.querySelectorAll('.picture g')].flatMap(g => {
  const box = g.querySelector('rect').getBoundingClientRect();
  return [...g.querySelectorAll('text')].filter(t => t.getBoundingClientRect().right > box.right)
    .map(t => t.textContent);
})"""
# rgb() of words and of what is behind them, for those words that stand on a colour of their own
CONTRAST = """[...document.querySelectorAll('.picture g')].flatMap(g => {
  const shape = g.querySelector('rect'), numbers = c => c.match(/[0-9.]+/g).slice(0, 3).map(Number);
  return [...g.querySelectorAll('text')].map(t => [t.textContent,
    numbers(getComputedStyle(t).fill), numbers(getComputedStyle(shape).fill)]);
})"""


def check(tab: Tab, page: Path, words: tuple[str, ...]) -> None:
    """Look at a page wide, narrow and dark: nothing complains, leaves, overflows or is hard to read."""
    tab.requests.clear()
    tab.complaints.clear()
    for dark in (False, True):
        for width in WIDTHS:
            tab.open(page, width, dark=dark)
            seen = str(tab.value("document.body.innerText"))

            assert tab.value(OVERFLOW) == 0, f"{page.name} is wider than {width}"
            assert [word for word in words if word not in seen] == []
            assert tab.value(SPILLED) == []
            hard = [
                (text, round(ratio(*pair), 1)) for text, *pair in tab.value(CONTRAST) if ratio(*pair) < 4.5
            ]
            assert hard == [], f"dark={dark}: {hard}"
    assert tab.complaints == []
    assert set(tab.requests) == {page.absolute().as_uri()}
    assert tab.value("document.querySelectorAll('script,img,link,iframe,object').length") == 0


def ratio(one: list[float], other: list[float]) -> float:
    """Return the contrast of two colours, as WCAG 2 defines it."""
    lights = sorted((luminance(one), luminance(other)))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def luminance(colour: list[float]) -> float:
    parts = [each / 255 for each in colour]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
