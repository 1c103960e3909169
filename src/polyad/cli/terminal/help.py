"""Help without the words of programmers: no types of Python beside options, no braces around arguments."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

__all__ = ["Command", "Group"]


class Command(TyperCommand):
    """A command whose help shows the names that were given, and nothing of how values are parsed."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, for people."""
        return [_for_people(param) for param in super().get_params(ctx)]

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return what comes after the name in the line of usage."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]


class Group(TyperGroup):
    """The command of commands, with the same help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, for people."""
        return [_for_people(param) for param in super().get_params(ctx)]


def _for_people(param: Any) -> Any:
    # What a parameter is shown as differs between versions of Typer; where a name is not there, it is not needed.
    if getattr(param, "is_flag", False) and param.metavar is None:
        param.metavar = ""
    if getattr(param, "param_type_name", "") == "argument" and hasattr(param, "display_type_rich"):
        param.display_type_rich = lambda ctx: None
    if hasattr(param, "_get_number_range_help_str"):
        param._get_number_range_help_str = lambda: None
    return param
