"""Moments of several views: cross moments of two and of three, exchangeable views, texts, windows of sequences."""

from polyad.moments.views.aligned import ViewFeatures, aligned_moments
from polyad.moments.views.triples import ThreeViews, three_views_population
from polyad.moments.views.windows import WindowFeatures, window_moments, window_population

__all__ = [
    "ThreeViews",
    "ViewFeatures",
    "WindowFeatures",
    "aligned_moments",
    "three_views_population",
    "window_moments",
    "window_population",
]
