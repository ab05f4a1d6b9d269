"""A command or option that is not explained is red: in its help, and on its page."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

from holdfast.cli import SECTIONS, root
from tests.cli.given import PROGRAM, clean_environment
from tests.house_rules.tree import DOCS, ROOT

HEAVY = {"rich", "asyncio", "pydantic", "tomllib", "importlib.metadata", "logging", "sqlite3", "starlette"}


def leaves(group: click.Group, path: str = "holdfast") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from leaves(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


COMMANDS = dict(leaves(root()))
OURS = [path for path in COMMANDS if path.split()[1] not in ("worker", "up", "serve", "bench", "chaos")]


def documented() -> dict[str, set[str]]:
    """Command -> its options, as the page has them."""
    page = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (holdfast .+)$", page, flags=re.MULTILINE)[1:]
    return {
        path: {
            name
            for names in re.findall(r"^\| `(-[^`]*)` \|", text, re.MULTILINE)
            for name in re.findall(r"--[\w-]+", names)
        }
        for path, text in zip(parts[::2], parts[1::2], strict=True)
    }


def test_the_page_has_every_command_and_no_other():
    assert set(documented()) == set(COMMANDS)


@pytest.mark.parametrize("path", COMMANDS)
def test_the_page_has_every_option_and_no_other(path):
    options = {name for option in COMMANDS[path].params if isinstance(option, click.Option) for name in option.opts}
    assert documented()[path] == {name for name in options if name.startswith("--")} | {"--help"}


@pytest.mark.parametrize("path", OURS)
def test_every_option_has_a_sentence(path):
    options = [option for option in COMMANDS[path].params if isinstance(option, click.Option)]
    assert [option.name for option in options if not option.help] == []


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_has_a_sentence_and_examples_that_call_it(path):
    command = COMMANDS[path]
    assert command.help
    assert command.help.splitlines()[0].endswith(".")
    assert command.examples
    assert [line for line, _ in command.examples if path not in line] == []


@pytest.mark.parametrize(("name", "sentence"), [pair for section in SECTIONS.values() for pair in section.items()])
def test_the_overview_says_what_the_command_itself_says(name, sentence):
    command = root().get_command(click.Context(root()), name)
    assert command is not None
    assert command.help is not None
    assert command.help.splitlines()[0] == sentence


@pytest.mark.parametrize("path", OURS)
def test_whatever_shows_something_takes_json(path):
    if path in ("holdfast top", "holdfast sql", "holdfast capture hook", "holdfast capture mcp"):
        return  # a picture, a text of its own, nothing, and what a protocol says
    assert "as_json" in {option.name for option in COMMANDS[path].params}


@pytest.mark.parametrize("path", COMMANDS)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_is_shown_with_examples(cli, path, flag):
    answer = cli(*path.split()[1:], flag)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith(f"Usage: {path} ")
    assert "Examples:" in answer.out


def test_the_version_is_shown(cli):
    import holdfast

    assert cli("--version").out == f"holdfast {holdfast.__version__}\n"


def loaded_by(code: str, folder) -> set[str]:
    program = f"import sys; from holdfast.cli import main; {code}; import json; print(json.dumps(list(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env=clean_environment(measured=False),
        capture_output=True,
        check=False,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return set(json.loads(run.stdout.splitlines()[-1]))


def test_the_overview_loads_no_command(tmp_path):
    loaded = loaded_by("main(['--help'])", tmp_path)
    assert {name for names in SECTIONS.values() for name in names if f"holdfast.cli.{name}" in loaded} == set()
    assert loaded & HEAVY == set()
    assert "holdfast.app" not in loaded


def test_an_enqueue_loads_itself_alone_and_nothing_heavy(tmp_path):
    loaded = loaded_by("main(['enqueue', 'tick', '--url', 'sqlite:///x.db'])", tmp_path)
    assert {name for names in SECTIONS.values() for name in names if f"holdfast.cli.{name}" in loaded} == {"enqueue"}
    assert loaded & HEAVY == set()


def test_a_listing_in_a_pipe_draws_nothing(tmp_path):
    assert "rich" not in loaded_by("main(['jobs', '--url', 'sqlite:///x.db'])", tmp_path)


def test_a_shell_is_told_how_a_line_goes_on(tmp_path):
    environment = clean_environment() | {
        "_HOLDFAST_COMPLETE": "bash_complete", "COMP_WORDS": "holdfast queues pa", "COMP_CWORD": "2",
    }  # fmt: skip
    run = subprocess.run(PROGRAM, cwd=tmp_path, env=environment, capture_output=True, check=False, text=True)
    assert (run.returncode, run.stdout) == (0, "plain,pause\n")


def test_the_console_script_is_the_same_program(tmp_path):
    from pathlib import Path

    script = Path(sys.executable).parent / "holdfast"
    if not script.exists():
        pytest.skip("the package is not installed as a script here")
    run = subprocess.run([script, "--version"], cwd=tmp_path, capture_output=True, check=True, text=True)
    assert run.stdout.startswith("holdfast ")


@pytest.mark.parametrize("family", sorted({path.rpartition(" ")[0] for path in COMMANDS} - {"holdfast"}))
def test_the_list_of_a_family_has_whole_sentences(cli, family):
    """Each as its own help begins: cut sentences tell half of it."""
    listed = " ".join(cli(*family.split()[1:], "--help").out.split("Commands:")[1].split())
    for path, command in COMMANDS.items():
        if path.rpartition(" ")[0] == family:
            sentence = " ".join((command.help or "").split("\n\n")[0].split()).partition(". ")[0].rstrip(".")
            assert f"{path.rpartition(' ')[2]} {sentence}" in listed
    assert "..." not in listed.partition("Examples:")[0]


@pytest.mark.parametrize("arguments", [["--help"], ["enqueue", "--help"]])
def test_the_example_of_an_enqueue_fits_the_first_page(cli, arguments):
    assert (
        '@app.job(queue="images", max_attempts=5, timeout=30)\nasync def thumbnail' in (ROOT / "README.md").read_text()
    )
    assert "holdfast enqueue thumbnail --queue images --payload" in cli(*arguments).out
