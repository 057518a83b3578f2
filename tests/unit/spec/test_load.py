"""C06: text to a spec, and nothing taken for something else."""

from __future__ import annotations

import contextlib
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.spec.asking import CPU, GPU, HEAD, MINIMAL, problems, said

from npa.errors import SpecError
from npa.spec import load

SEED = Path(__file__).parents[4] / "shared" / "seeds" / "npa-soperator-skill.txt"

EXAMPLE = """\
apiVersion: npa.soperator/v0.0.1
name: npasop
region: us-central1
control_plane:
  system: { min_size: 3, max_size: 24 }
  controller: {}
  login: { preset: 16vcpu-64gb }
workers:
  - name: cpu8
    platform: cpu-d3
    preset: 8vcpu-32gb
    docker_cache: true
    docker_cache_gib: 930
  - name: gpu
    platform: gpu-b200-sxm
    preset: 8gpu-160vcpu-1792gb
    size: 2
    fabric: us-central1-b
    preemptible: true
    docker_cache: true
accounting: false
slurm_operator_version: "4.1.6"
k8s_version: "1.34"
node_group_version: "72"
"""


def test_the_documented_example_loads_unchanged() -> None:
    if not SEED.exists():
        pytest.skip(f"no {SEED}: the documented example is checked from its copy here only")
    match = re.search(r"```yaml\n(.*?)```", SEED.read_text(), re.DOTALL)
    assert match

    assert load.parse(match[1]) == load.parse(EXAMPLE)


def test_the_example_means_what_it_says() -> None:
    spec = load.parse(EXAMPLE)

    assert [(pool.name, pool.size, pool.capacity_mode) for pool in spec.workers] == [
        ("cpu8", 1, "on-demand"),
        ("gpu", 2, "preemptible"),
    ]
    assert spec.workers[0].docker_cache_gib == 930


def test_c06_no_scalar_changes_its_type_in_silence() -> None:
    found = said(
        "k8s_version: 1.30\n"
        "node_group_version: 072\n"
        "name: on\n"
        'workers: [{name: 1e3, size: "2"}, {name: null, size: true}]\n'
        "size: 2\n"
        "size: 20\n"
    )

    assert found["k8s_version"] == 'must be a string, not the number `1.30` | quote it: "1.30"'
    assert found["node_group_version"] == 'must be a string, not the number `072` | quote it: "072"'
    assert found["name"] == 'must be a string, not the boolean `on` | quote it: "on"'
    assert found["workers[0].name"] == 'must be a string, not the number `1e3` | quote it: "1e3"'
    assert found["workers[0].size"] == "must be a whole number, not the string `2` | remove the quotes: 2"
    assert found["workers[1].name"] == "must be a string, not null | give a value, or remove the line"
    assert found["workers[1].size"].startswith("must be a whole number, not the boolean `true`")
    assert found["size"] == "`size` is already on line 5 | keep one of the two"


@pytest.mark.parametrize(
    "scalar",
    "no off Yes true null ~ 012 0x1F 1_000 1:30 1.5 .5 1e3 1E+3 0o17 .inf .nan 2024-01-01 12 -1".split(),  # noqa: SIM905
)
def test_c06_what_yaml_reads_as_no_string_is_no_name(scalar: str) -> None:
    assert "must be a string" in said(f"name: {scalar}\n{CPU}")["name"]


@pytest.mark.parametrize(
    "scalar",
    ["2.0", "'2'", "true", "null", "02", "0x2", "1e1", "1_0", "9" * 30, "[2]", "{}"],
)
def test_c06_what_is_no_whole_number_is_no_size(scalar: str) -> None:
    assert list(said(f"{HEAD}workers: [{{name: cpu, size: {scalar}}}]")) == ["workers[0].size"]


@pytest.mark.parametrize("scalar", ["'true'", "1", "0", "null", "[]", "maybe"])
def test_c06_what_is_no_boolean_is_no_switch(scalar: str) -> None:
    assert list(said(f"{MINIMAL}accounting: {scalar}")) == ["accounting"]


@pytest.mark.parametrize(
    "field",
    [
        *("region", "control_plane", "workers", "users", "partitions"),
        *("slurm", "tenant_id", "telemetry", "k8s_version"),
    ],
)
def test_c06_null_is_no_value_where_none_is_documented(field: str) -> None:
    text = f"{HEAD}{'' if field == 'workers' else CPU}{field}:\n"

    assert "not null" in said(text)[field]


def test_c06_a_type_error_keeps_rules_from_guessing() -> None:
    text = f"{HEAD}workers: [{{name: gpu, {GPU.replace('platform: gpu-b200-sxm', 'platform: 7')}}}]"

    assert list(said(text)) == ["workers[0].platform"]


def test_c06_rules_run_beside_type_errors() -> None:
    found = said(
        'name: 7\nworkers: [{name: gpu, platform: gpu-b200-sxm, size: "2"}]\nslurm_rest_enabled: true'
    )

    assert list(found) == [
        "name",
        "workers[0].fabric",
        "workers[0].preset",
        "workers[0].size",
        "slurm_rest_enabled",
    ]


@pytest.mark.parametrize(
    "text",
    [
        MINIMAL.replace("\n", "\r\n"),
        "\ufeff" + MINIMAL,
        "name:\tlab\nworkers:\n\t- name: cpu\n\t  size: 2\n",
        "name: lab\nworkers:\n-\tname: cpu\n\tsize: 2\n",
        "name: lab\t# tab\nworkers:\n  - {name:\tcpu}\t\n",
        "---\n" + MINIMAL + "...\n",
        "%YAML 1.1\n---\n" + MINIMAL,
        "# only a comment\n" + MINIMAL,
        "name: &n lab\n" + CPU,
        "name: !!str lab\n" + CPU,
    ],
)
def test_c06_tabs_bom_and_crlf_load(text: str) -> None:
    assert not problems(text)
    assert not problems(text.encode())


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("", 0, 0, "must be a mapping, not null"),
        ("# nothing", 0, 0, "must be a mapping, not null"),
        ("- a", 1, 1, "must be a mapping, not a list"),
        ("lab", 1, 1, "must be a mapping"),
        ("name: [\n", 2, 1, "not YAML"),
        ("name: lab\n  x: y", 2, 4, "not YAML"),
        ("name: 'lab", 1, 11, "not YAML"),
        (MINIMAL + "---\n" + MINIMAL, 3, 1, "a second document"),
        ("name: lab\n\x00", 2, 1, "U+0000"),
        ("name: lab\x07", 1, 10, "U+0007"),
        ("name: \ud800", 1, 7, "U+D800"),
        ("name: &a [*a]", 1, 11, "aliases"),
        ("<<: {name: lab}", 1, 1, "merge keys"),
        ("x: &a {name: lab}\n<<: *a", 2, 1, "merge keys"),
        ("1: x", 1, 1, "is not a word"),
        ("on: x", 1, 1, "is not a word"),
        ("[a]: x", 1, 1, "a key must be a word"),
        ("? {a: b}\n: x", 1, 3, "a key must be a word"),
        ("name: !!python/object:os.system lab", 1, 7, "tag"),
        ("name: !x lab", 1, 7, "tag"),
        ("[" * 100, 1, 21, "nested more than 20 deep"),
        ("a: " * 50, 1, 5, "not YAML"),
    ],
)
def test_what_is_no_document_is_told_with_its_place(text: str, line: int, column: int, words: str) -> None:
    told = [each for each in problems(text) if words in each.message]

    assert [(each.line, each.column) for each in told] == [(line, column)]


def test_billions_of_aliases_and_endless_nesting_are_refused_at_once() -> None:
    laughs = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{f'*a{n - 1},' * 9}]\n" for n in range(1, 40))
    start = time.perf_counter()

    assert problems(laughs)
    assert problems("[" * 100_000)
    assert time.perf_counter() - start < 20  # a bomb takes minutes


def test_problems_stand_in_the_order_of_the_text_with_their_source() -> None:
    found = problems("nmae: lab\nworkers:\n  - name: gpu\n    platform: gpu-b200-sxm\n    premptible: true\n")

    assert [str(each).partition(" ")[0] for each in found] == [
        "c.yaml:1:1:",
        "c.yaml:1:1:",
        "c.yaml:3:5:",
        "c.yaml:3:5:",
        "c.yaml:5:5:",
    ]
    assert found[-1].hint == "did you mean `preemptible`"
    assert {each.at for each in found[:2]} == {"name", "nmae"}


def test_bytes_that_are_no_text_are_told_with_their_place() -> None:
    (found,) = problems(b"name: lab\nregion: \xff\n")

    assert (found.line, found.column) == (2, 9)


@pytest.mark.parametrize(
    "mapping",
    [
        {"name": "lab", "workers": [{"name": "cpu", "size": 2.0}]},
        {"name": "lab", "workers": [{"name": "cpu", "size": True}]},
        {"name": "lab", "workers": [{"name": "cpu", 1: 2}]},
        {"name": "lab", "workers": ({"name": "cpu", "size": 10**5000},)},
        {"name": None, "workers": "cpu"},
        {"name": b"lab", "workers": {"name": "cpu"}},
        {},
    ],
)
def test_a_mapping_is_held_to_the_same_rules_without_lines(mapping: dict[str, object]) -> None:
    with pytest.raises(SpecError) as raised:
        load.from_mapping(mapping)

    assert {(each.line, each.column) for each in raised.value.problems} == {(0, 0)}


def test_a_mapping_that_holds_itself_is_refused() -> None:
    mapping: dict[str, object] = {"name": "lab"}
    mapping["workers"] = [mapping]

    with pytest.raises(SpecError, match="nested more than"):
        load.from_mapping(mapping)


def test_a_mapping_may_be_made_of_lists_and_is_left_alone() -> None:
    mapping = {"name": "lab", "workers": [{"name": "cpu", "features": ["a"]}]}

    assert load.from_mapping(mapping).workers[0].features == ("a",)
    assert mapping == {"name": "lab", "workers": [{"name": "cpu", "features": ["a"]}]}


_PIECES = st.sampled_from(
    [
        *("name", "workers", "size", "platform", "gpu-gb300", "partitions", "pools", "users", "slurm"),
        *("settings", ": ", "\n", "  ", "- ", "{", "}", "[", "]", ",", "'", '"', "&a", "*a", "!!str", "<<"),
        *("---\n", "#", "|", "lab", "cpu", "1", "072", "1.30", "null", "on", "?", "\t", "\ufeff", "\x85"),
        *("\u2028", "\\", "%"),
    ]
)


@given(st.one_of(st.text(), st.lists(_PIECES, max_size=40).map("".join), st.binary()))
def test_any_text_is_a_spec_or_a_spec_error(text: str | bytes) -> None:
    problems(text)


_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), _PIECES),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(_PIECES, st.text(max_size=4)), inner, max_size=3),
    ),
    max_leaves=12,
)
_FIELDS = st.sampled_from(
    [
        *("name", "workers", "control_plane", "partitions", "users", "slurm"),
        *("accounting", "region", "ssh_public_keys", "slurm_rest_enabled"),
    ]
)


@given(st.dictionaries(_FIELDS, _VALUES), st.dictionaries(_PIECES, _VALUES, max_size=3))
def test_any_mapping_is_a_spec_or_a_spec_error(mapping: dict[str, object], pool: dict[str, object]) -> None:
    for whole in (mapping, {"name": "lab", "workers": [{"name": "cpu"}, pool], **mapping}):
        with contextlib.suppress(SpecError):
            load.from_mapping(whole)
