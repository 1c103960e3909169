"""The `polyad` command: from files of text to topics without a line of Python."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command with the arguments of the process, and end the process with its exit code."""
    try:
        from polyad.cli.app import run
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.stderr.write(f"polyad: the command needs the package {error.name}; pip install 'polyad[cli]' brings it.\n")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(run())
