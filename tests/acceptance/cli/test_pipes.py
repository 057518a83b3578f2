"""What only a process of its own shows: pipes, signals, the environment (case C78)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

NPA = str(Path(sys.executable).with_name("npa"))
SPEC = "name: quick\nworkers: [{name: cpu8, size: 2}]\n"


def run(*arguments: str, stdin: str = SPEC, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [NPA, "soperator", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **options,
    )


def test_a_spec_comes_from_stdin() -> None:
    done = run("plan", "--spec", "-", "--output", "json")

    assert done.returncode == 0
    assert json.loads(done.stdout)["name"] == "quick"


def test_problems_of_stdin_are_placed_too() -> None:
    done = run("validate", "-f", "-", stdin="name: quick\nworkers: []\n")

    assert done.returncode == 2
    assert "<stdin>:2:" in done.stderr


def test_nothing_but_a_directory_to_look_at_is_needed(tmp_path: Path) -> None:
    bare = {"PATH": "/usr/bin:/bin"}  # no HOME, no credentials, no locale
    tmp_path.chmod(0o555)

    done = run("plan", "-f", "-", env=bare, cwd=tmp_path)

    assert done.returncode == 0
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1"])
def test_any_locale_will_do(locale: str) -> None:
    done = run("validate", "-f", "-", "-o", "json", stdin="näme: ✗\n", env={**os.environ, "LC_ALL": locale})

    assert done.returncode == 2
    assert json.loads(done.stdout)["ok"] is False


def test_a_reader_that_leaves_early_is_no_failure_worth_words() -> None:
    done = subprocess.run(
        ["bash", "-c", f"'{NPA}' soperator schema | head -1; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.stdout.splitlines()[0] == "{"
    assert done.stdout.splitlines()[-1] in ("0", "141")  # 0: the pipe held all of it
    assert done.stderr == ""


def test_a_pipe_without_a_reader_is_quiet() -> None:
    read, write = os.pipe()
    os.close(read)

    done = subprocess.run([NPA, "soperator", "schema"], stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)

    assert (done.returncode, done.stderr) == (141, b"")


def test_a_full_disk_is_an_error_and_no_traceback() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [NPA, "soperator", "schema"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )

    assert done.returncode == 1
    assert done.stderr.startswith("error: no space left on device\n")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_closed_streams_do_not_matter(closed: str, tmp_path: Path) -> None:
    path = tmp_path / "quick.yaml"
    path.write_text(SPEC)

    done = subprocess.run(
        ["bash", "-c", f"'{NPA}' soperator plan -f '{path}' {closed}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_ctrl_c_ends_in_one_line() -> None:
    process = subprocess.Popen(
        [NPA, "soperator", "validate", "-f", "-", "--output", "json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(1)  # it waits for stdin by now
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)

    assert process.returncode == 130
    assert err.startswith("error: interrupted\nhint: ")
    assert "Traceback" not in err
    assert json.loads(out)["error"]["code"] == "interrupted"


def test_debug_shows_the_traceback_wherever_it_stands() -> None:
    for arguments, env in (
        (["explain", "nothing", "--debug"], {}),
        (["explain", "nothing"], {"NPA_DEBUG": "1"}),
    ):
        done = run(*arguments, env={**os.environ, **env})

        assert done.returncode == 2
        assert "Traceback" in done.stderr
        assert "error: " in done.stderr


def test_help_starts_without_pydantic_and_rich() -> None:
    code = (
        "import sys; from npa.cli.main import main; main(['--help']); "
        "sys.exit(bool({'pydantic', 'rich', 'yaml'} & set(sys.modules)))"
    )

    assert (
        subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=False).returncode == 0
    )
