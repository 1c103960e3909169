"""Models one can look at: the single-file HTML report, and charts (:mod:`polyad.report.charts`)."""

from typing import TYPE_CHECKING, Any

from polyad.base.lazy import importer

if TYPE_CHECKING:
    from polyad.report.report import write_report, write_selection

__all__ = ["write_report", "write_selection"]

_HOMES = dict.fromkeys(__all__, "polyad.report.report")


def __getattr__(name: str) -> Any:
    return importer(__name__, _HOMES)(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
