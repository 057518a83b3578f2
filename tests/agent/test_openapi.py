"""Whatever fits the description, or does not, gets an answer that fits it; the same cases each time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis.checks import CHECKS, load_all_checks
from tests.agent import serving

from npa.agent import openapi, registry

CASES = 25  # for each way of calling each operation
# What a schema cannot say of a spec makes an input that fits it wrong all the same.
LEFT_OUT = {"positive_data_acceptance", "max_response_time"}

DESCRIPTION = openapi.describe(registry.tools())
OPERATIONS = [
    (path, method)
    for path, found in DESCRIPTION["paths"].items()
    for method in found
    if method != "parameters"
]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve as the program does, with nothing on the machine but this."""
    empty = str(tmp_path_factory.mktemp("empty"))
    env = {"NPA_STATE_DIR": empty, "HOME": empty, "NPA_CONFIG_DIR": empty}
    with serving.program(env, "serve") as (_, url):
        yield url


@pytest.mark.slow
@pytest.mark.parametrize(("path", "method"), OPERATIONS, ids=lambda each: each)
def test_what_is_answered_fits_the_description(url: str, path: str, method: str) -> None:
    load_all_checks()
    checks: list[Any] = [check for check in CHECKS.get_all() if check.__name__ not in LEFT_OUT]
    schema = schemathesis.openapi.from_dict(DESCRIPTION)
    operation = schema[path][method.upper()]
    head = {"Authorization": f"Bearer {serving.TOKEN.value}"}

    for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):

        @seed(20)
        @settings(
            max_examples=CASES,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def fits(case: schemathesis.Case[Any]) -> None:
            case.call_and_validate(base_url=url, headers=head, checks=checks)

        fits()
