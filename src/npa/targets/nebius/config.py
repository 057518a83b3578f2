"""`config.yaml`: where the user's projects are written down."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import yaml

from npa.errors import IdentityError
from npa.render.nebius import identity
from npa.render.nebius.identity import Config

FILE = "config.yaml"


def folder(env: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of the configuration; NPA_CONFIG_DIR moves it."""
    moved = env.get("NPA_CONFIG_DIR")
    return Path(moved).expanduser() if moved else _home(env) / ".npa"


def work_root(env: Mapping[str, str] = os.environ) -> Path:
    """Return where installations live: always below the home folder, so that state is found again."""
    return _home(env) / ".npa" / "soperator"


def load(env: Mapping[str, str] = os.environ) -> Config:
    """Return the configuration, an empty one where there is no file.

    Raises IdentityError for one that cannot be understood: it is never taken for an empty one.
    """
    path = folder(env) / FILE
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Config()
    except (OSError, UnicodeDecodeError) as error:
        raise IdentityError(
            f"{path} cannot be read: {type(error).__name__}", hint="correct its mode"
        ) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        raise IdentityError(f"{where}: not YAML", hint="correct the file, or move it away") from error
    try:
        return identity.parse_config(document)
    except IdentityError as error:
        raise IdentityError(*(f"{path}: {each}" for each in error.problems), hint=error.hint) from error


def _home(env: Mapping[str, str]) -> Path:
    return Path(env.get("HOME") or "~").expanduser()
