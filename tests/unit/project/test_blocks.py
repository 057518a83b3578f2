from __future__ import annotations

import pytest
from tests.acceptance import blocks

DOCUMENT = """\
# Title

```bash
echo one
echo two
```

```text
one
two
```

Prose between.

<!-- not run: needs a cloud -->
```bash
deploy
```

```yaml
a: 1
```

```bash
last
```

Prose.

```text
not its output
```
"""


def test_blocks_come_in_order_with_what_they_show() -> None:
    assert blocks.parse(DOCUMENT) == (
        blocks.Block(3, "echo one\necho two\n", shown="one\ntwo\n"),
        blocks.Block(16, "deploy\n", not_run="needs a cloud"),
        blocks.Block(24, "last\n"),
    )


@pytest.mark.parametrize(
    ("shown", "output", "lacks"),
    [
        pytest.param("", "anything", None, id="nothing-shown"),
        pytest.param("a\nb\n", "a\nb\n", None, id="same"),
        pytest.param("took 1.2 s\n", "took  34.5 s\n", None, id="numbers-and-spaces-aside"),
        pytest.param("a\nc\n", "a\nb\nc\n", None, id="lines-between-may-be-left-out"),
        pytest.param("b\na\n", "a\nb\n", "a", id="order-counts"),
        pytest.param("id … end\n", "id xyz end\n", None, id="ellipsis"),
        pytest.param("a\n…\n", "a\n", None, id="ellipsis-alone"),
        pytest.param("a\nz\n", "a\n", "z", id="lacks-a-line"),
    ],
)
def test_shown_lines_are_looked_for(shown: str, output: str, lacks: str | None) -> None:
    assert blocks.missing(shown, output) == lacks
