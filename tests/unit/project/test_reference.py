from __future__ import annotations

import pytest
from scripts import reference


@pytest.mark.parametrize("page", ["spec.md", "cli.md", "exit-codes.md", "kubernetes-fields.md"])
def test_the_reference_is_what_the_code_says(page: str) -> None:
    written = (reference.REFERENCE / page).read_text(encoding="utf-8")

    assert written == reference.render()[page], "run `make docs`"
