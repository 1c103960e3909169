"""Help without the words of programmers: no types of Python beside options, no braces around arguments."""

import shutil
import textwrap
from collections.abc import Sequence
from typing import Any

from typer.core import TyperCommand, TyperGroup

NARROW = 60  # columns below which the names of options would be cut in a table with what they mean beside them


class Command(TyperCommand):
    """A command whose help shows the names that were given, and nothing of how values are parsed."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, for people."""
        return [_for_people(param) for param in super().get_params(ctx)]

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return what comes after the name in the line of usage."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        _write_help(self, super().format_help, ctx, formatter)


class Group(TyperGroup):
    """The command of commands, with the same help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, for people."""
        return [_for_people(param) for param in super().get_params(ctx)]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        _write_help(self, super().format_help, ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write what each command does, uncut."""
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(1000)) for name, command in commands if command])


def _write_help(command: Any, write: Any, ctx: Any, formatter: Any) -> None:
    """Write help as a table where there is room for one, and what an option means below its name where not."""
    columns = shutil.get_terminal_size().columns
    if columns >= NARROW:
        write(ctx, formatter)
        return

    def write_text(text: str, indent: int = 0) -> None:
        for line in text.replace("\b\n", "").split("\n"):
            start = " " * (formatter.current_indent + indent)
            wrap = textwrap.TextWrapper(
                columns, initial_indent=start, subsequent_indent=start, break_on_hyphens=False, break_long_words=False
            )
            if line.startswith("polyad "):
                wrap.subsequent_indent += "  "
            formatter.write(wrap.fill(line) + "\n")

    def write_below(rows: Sequence[tuple[str, str]], *_: Any, **__: Any) -> None:
        for name, meaning in rows:
            write_text(name)
            write_text(meaning, 4)

    formatter.width, formatter.write_text, formatter.write_dl = columns, write_text, write_below
    mode, command.rich_markup_mode = command.rich_markup_mode, None
    try:
        write(ctx, formatter)
    finally:
        command.rich_markup_mode = mode


def _for_people(param: Any) -> Any:
    # What a parameter is shown as differs between versions of Typer; where a name is not there, it is not needed.
    if getattr(param, "is_flag", False) and param.metavar is None:
        param.metavar = ""
    if getattr(param, "param_type_name", "") == "argument" and hasattr(param, "display_type_rich"):
        param.display_type_rich = lambda ctx: None
    if hasattr(param, "_get_number_range_help_str"):
        param._get_number_range_help_str = lambda: None
    return param
