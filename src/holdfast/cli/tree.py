"""The shapes of the commands: a root that loads a command when it is called, and help that ends with examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

import holdfast
from holdfast.cli.plain import many

Examples = Sequence[tuple[str, str]]  # a command line, and what it does

_QUOTES = "put values that hold spaces in quotes"
_WHOLE = 1_000  # characters: no sentence is so long
_NAMES = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Command(click.Command):
    """A command whose help ends with examples. `surplus` says where an argument too many was meant to go."""

    def __init__(self, *args: Any, examples: Examples = (), surplus: str = _QUOTES, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples
        self.surplus = surplus

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # Click would repeat what is too much in its error: it may be a payload that was put in the wrong place.
        ctx.allow_extra_args = True
        with _told_better(ctx, self.examples):
            rest = super().parse_args(ctx, args)
        if rest and not ctx.resilient_parsing:
            raise click.UsageError(f"{many(len(rest), 'argument')} too many: {self.surplus}", ctx)
        return rest

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        write_examples(formatter, self.examples)


class Family(click.Group):
    """Commands that share a first word: `job show`, `job retry`."""

    command_class = Command

    def __init__(self, *args: Any, examples: Examples = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with _told_better(ctx, self.examples):
            return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(self.commands)  # in the order they were written, not by letter

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each with the whole first sentence of its help: click would cut it to the width."""
        names = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(_WHOLE)) for name, one in names if one is not None])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        names = self.list_commands(ctx)
        if args[0] not in names and not args[0].startswith("-"):
            if meant := _meant_in(ctx, args[0]):
                raise click.UsageError(f"no command {args[0]!a}: did you mean {meant}", ctx)
            close = get_close_matches(args[0], names)
            hint = f": did you mean {' or '.join(close)}?" if close else f"; there are: {', '.join(names)}"
            raise click.UsageError(f"no command {args[0][:50]!a}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        write_examples(formatter, self.examples)


class Root(Family):
    """`holdfast` itself. Knows its commands by their lines of help, and loads one when it is called."""

    def __init__(self, sections: Mapping[str, Mapping[str, str]]) -> None:
        super().__init__(
            "holdfast",
            help="Durable background jobs: store them, look at them, act on them.",
            context_settings=_NAMES,
            params=[
                click.Option(["--url"], metavar="URL", help="The store, for any command; see `holdfast jobs --help`."),
                click.Option(["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_version,
                             help="Show the version and exit."),
            ],
            callback=lambda url: None,  # noqa: ARG005  # read by whoever opens the store
            examples=(
                ("holdfast enqueue thumbnail --queue images --payload '{\"path\": \"a.png\"}'", "store a job"),
                ("holdfast top", "see what happens"),
                ("holdfast job explain ID", "learn why a job does not run"),
            ),
        )  # fmt: skip
        self.sections = sections

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return [name for commands in self.sections.values() for name in commands]

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args[0] == "help":
            if args[1:]:
                return super().resolve_command(ctx, [*args[1:], "--help"])
            click.echo(ctx.get_help())
            ctx.exit()
        if args[0] not in self.list_commands(ctx) and (meant := _meant(args[0])):
            raise click.UsageError(f"no command {args[0]!a}: did you mean {meant}", ctx)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command = import_module(f"holdfast.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        for title, commands in self.sections.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))


@contextmanager
def _told_better(ctx: click.Context, examples: Examples) -> Iterator[None]:
    """Click names options that are hardly alike, and leaves who forgot an argument without an example."""
    try:
        yield
    except click.NoSuchOption as error:
        raise click.UsageError(
            f"no option {error.option_name[:50]!a}{_meant_by(ctx, error.option_name)}", ctx
        ) from None
    except click.MissingParameter as error:
        if not examples:
            raise
        raise click.UsageError(f"{error.format_message()} For example: {examples[0][0]}", ctx) from None


def _meant_by(ctx: click.Context, option: str) -> str:
    from holdfast.cli.guesses import OPTIONS  # noqa: PLC0415  # loaded for a wrong option alone
    from holdfast.model.spelling import nearest  # noqa: PLC0415

    if meant := OPTIONS.get(f"{ctx.info_name} {option}"):
        return f": {meant}"
    known = {name.lstrip("-"): name for one in ctx.command.get_params(ctx) for name in one.opts if name[:2] == "--"}
    near = nearest(option.lstrip("-"), known)
    return f": did you mean {known[near]}?" if near else ""


def _meant_in(ctx: click.Context, word: str) -> str | None:
    """What is asked of one family, and stands in another."""
    from holdfast.cli.guesses import GUESSES  # noqa: PLC0415

    return GUESSES.get(f"{ctx.info_name} {word}")


def _meant(word: str) -> str | None:
    """What is done to a job is often said without the word `job`; other tools have other names."""
    from holdfast.cli.guesses import GUESSES  # noqa: PLC0415  # loaded for a wrong command alone
    from holdfast.cli.job import command  # noqa: PLC0415

    return f"`holdfast job {word}`?" if word in command.commands else GUESSES.get(word)


def write_examples(formatter: click.HelpFormatter, examples: Examples) -> None:
    """Examples as they would be typed: never wrapped."""
    if not examples:
        return
    with formatter.section("Examples"):
        for line, purpose in examples:
            formatter.write(f"{'':>{formatter.current_indent}}# {purpose}\n{'':>{formatter.current_indent}}{line}\n")


def _version(ctx: click.Context, _: click.Parameter, value: object) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(f"holdfast {holdfast.__version__}")
        ctx.exit()
