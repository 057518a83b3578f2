from __future__ import annotations

from npa.operator import gather
from npa.render.objects import CONFIG_MAP, SECRET

SPEC = {
    "secrets": {"sshdKeysName": "keys"},
    "slurmNodes": {
        "login": {"sshdConfigMapRefName": "sshd", "sssdConfSecretRefName": "", "size": 1},
        "accounting": {"externalDB": {"passwordSecretKeyRef": {"name": "db", "key": "password"}}},
    },
    "volumeSources": [
        {"name": "a", "secret": {"secretName": "mounted"}},
        {"name": "b", "configMap": {"name": "files"}},
        {"name": "c", "emptyDir": {}},
    ],
}


def test_what_a_resource_names_is_found_by_the_fields_that_name_it() -> None:
    assert set(gather.references(SPEC)) == {
        (SECRET, "keys"),
        (CONFIG_MAP, "sshd"),
        (SECRET, "db"),
        (SECRET, "mounted"),
        (CONFIG_MAP, "files"),
    }
