"""Models one can look at: the single-file HTML report, and charts (:mod:`polyad.report.charts`)."""

from typing import TYPE_CHECKING

from polyad.base.lazy import lazily

if TYPE_CHECKING:
    from polyad.report.report import write_report

__all__ = ["write_report"]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "polyad.report.report": ("write_report",),
    },
)
