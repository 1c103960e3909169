"""Names that a user gives to topics: read from options, and kept in the model file."""

from collections.abc import Sequence

from polyad.cli.files import check_output
from polyad.cli.terminal.errors import CallError


def parse_names(options: Sequence[str]) -> dict[int, str]:
    """Read names such as 3=Courts; the last of several for one topic counts.

    Examples
    --------
    >>> parse_names(["3=Courts", "7=Art = life"])
    {3: 'Courts', 7: 'Art = life'}
    """
    found = {}
    for option in options:
        number, equals, name = option.partition("=")
        if not equals or not number.strip().isdecimal():
            raise CallError(f"--name is {option!r}; give the number of a topic and its name, as in --name 3=Courts.")
        found[int(number)] = name
    return found


def name_topics(path: str, options: Sequence[str]) -> None:
    """Put names into a model file; an empty one takes the name of a topic away."""
    from polyad.base.names import checked_names
    from polyad.io import load, save

    names = parse_names(options)
    check_output(path)
    model = load(path)
    try:
        model.names_ = checked_names({**model.names_, **names}, int(model.n_components or 0))
    except ValueError as error:
        raise CallError(str(error)) from error
    save(model, path)
