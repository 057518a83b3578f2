"""Amounts over time as areas; the words of the axes are HTML, so that they can be read at any width."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import htpy as h

WIDE, HIGH = 1000, 200


def chart(
    title: str,
    series: Sequence[tuple[str, str, Sequence[float]]],
    top: float,
    labels: tuple[str, str, str],
    times: tuple[datetime, datetime],
) -> h.Element:
    """Draw series of (name, class, amounts) up to `top`; `labels` are those of its top, middle and bottom."""
    box = {"viewBox": f"0 0 {WIDE} {HIGH}", "preserveAspectRatio": "none", "role": "img", "aria-label": title}
    lines = (h.line(".grid", x1="0", x2=str(WIDE), y1=str(y), y2=str(y)) for y in (0, HIGH // 2, HIGH))
    names = (h.li[h.i(class_=f"swatch {look}"), name] for name, look, _ in series)
    return h.figure(".chart")[
        h.figcaption[h.b[title], h.ul(".legend")[names] if len(series) > 1 else None],
        h.div(".plot")[
            h.div(".y")[(h.span[each] for each in labels)],
            h.svg(box)[lines, [_area(amounts, top, look) for _, look, amounts in series]],
        ],
        h.div(".x")[(h.span[each] for each in ticks(*times))],
    ]


def _area(amounts: Sequence[float], top: float, look: str) -> h.Node:
    if not amounts or top <= 0:
        return None
    step = WIDE / len(amounts)
    path = [f"M0 {HIGH}"]
    for index, amount in enumerate(amounts):
        y = HIGH - HIGH * min(1.0, max(0.0, amount / top))
        path.append(f"L{step * index:.1f} {y:.1f}H{step * (index + 1):.1f}")
    return h.path(class_=look, d=f"{''.join(path)}V{HIGH}Z")


def ticks(since: datetime, until: datetime, count: int = 5) -> list[str]:
    """Return what the axis of time says, at equal distances."""
    form = "%H:%M" if until - since < timedelta(days=2) else "%d %b"
    moments = (since + (until - since) * index / (count - 1) for index in range(count))
    return [f"{each.astimezone(UTC):{form}}" for each in moments]


def rounded(top: float) -> float:
    """Return the next number above that people like to see on an axis."""
    size = 1.0
    while size * 10 <= top:
        size *= 10
    return next(size * step for step in (1, 2, 4, 5, 10, 20) if size * step >= top) if top > 1 else 2.0
