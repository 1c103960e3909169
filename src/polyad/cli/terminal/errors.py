"""Errors as sentences, and the exit codes."""

import os
import shutil
import sys
import textwrap
import traceback
from contextlib import suppress

from polyad.cli.terminal.text import sentence as short
from polyad.cli.terminal.wording import for_people

DATA_AT_FAULT = 1
CALL_AT_FAULT = 2
INTERRUPTED = 130
PIPE_CLOSED = 141


class CallError(Exception):
    """The call is at fault: an option or a combination of options that makes no sense."""


def explain(error: BaseException) -> int:
    """Print an error as one sentence on standard error, and return the exit code."""
    code, sentence = _code_and_sentence(error)
    if isinstance(error, OSError) and not error.filename:
        _close_stdout()
    if sentence:
        if os.environ.get("POLYAD_DEBUG"):
            traceback.print_exception(error)
        sys.stderr.write(_wrapped(f"polyad: {short(sentence)}"))
    return code


def _wrapped(line: str) -> str:
    """Break a line between words where it goes to a terminal, which would break it anywhere."""
    if not sys.stderr.isatty():
        return f"{line}\n"
    width = max(20, shutil.get_terminal_size().columns)
    return textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False) + "\n"


def _code_and_sentence(error: BaseException) -> tuple[int, str | None]:
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else DATA_AT_FAULT, None
    if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "Abort":
        return INTERRUPTED, "stopped; nothing half-written was left."
    if isinstance(error, BrokenPipeError):
        return PIPE_CLOSED, None
    if isinstance(error, CallError):
        return CALL_AT_FAULT, for_people(str(error))
    if hasattr(error, "format_message"):  # errors of the parser of arguments, whose classes differ between versions
        return getattr(error, "exit_code", CALL_AT_FAULT), _usage_sentence(error)
    if isinstance(error, OSError):
        return DATA_AT_FAULT, _os_sentence(error)
    if isinstance(error, ValueError):
        return DATA_AT_FAULT, for_people(str(error))
    if isinstance(error, MemoryError):
        return DATA_AT_FAULT, "the memory is not enough; keep fewer words (--min-df, --max-features) or fewer topics."
    name = type(error).__name__
    return DATA_AT_FAULT, f"an error of polyad itself ({name}: {error}); POLYAD_DEBUG=1 shows where, please report it."


def _usage_sentence(error: BaseException) -> str:
    context = getattr(error, "ctx", None)
    command = getattr(context, "command_path", "polyad")
    return f"{error.format_message().rstrip('.')}; see {command} --help."  # type: ignore[attr-defined]


def _os_sentence(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason[:1].lower()}{reason[1:]}." if error.filename else f"{reason}."


def _close_stdout() -> None:
    """Keep Python from writing to a closed pipe or a full disk again at its end, which would print a message."""
    with suppress(OSError, ValueError):  # standard output may be no file at all
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
