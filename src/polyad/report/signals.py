"""Drawings of signals: a band over time, and how strong each frequency is."""

import base64
import struct
import zlib
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyad.base.arrays import FloatArray
from polyad.report.drawing import ACCENT, CHART_WIDTH
from polyad.report.extra import import_altair

POINTS = 600  # of a drawn signal
LEAST_LEVEL = -60.0  # decibels below the strongest; what is weaker is drawn alike
# From weak to strong, as bright as they are strong, told apart also by those who see no red or green.
LEVEL_COLOURS = ("#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725")


def waveform(signal: Any, *, rate: float | None = None, height: int = 90, title: str = "value") -> Any:
    """Draw a signal as the band from the lowest to the highest value of every piece of it.

    Parameters
    ----------
    signal
        Samples.
    rate
        Samples in a second; None counts samples.
    height, title
        Of the chart, and of its vertical axis.
    """
    alt = import_altair()
    unit = 1.0 if rate is None else 1.0 / rate
    rows = [
        {"x": float(f"{at * unit:.6g}"), "low": float(f"{low:.4g}"), "high": float(f"{high:.4g}")}
        for at, low, high in envelope(signal)
    ]
    across = alt.Axis(format=",d" if rate is None else "~g", grid=False, labelOverlap=True, labelFlush=True)
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_area(color=ACCENT, line={"color": ACCENT, "strokeWidth": 0.7})
        .encode(
            x=alt.X(
                "x:Q", title="row" if rate is None else "seconds", scale=alt.Scale(zero=False, nice=False), axis=across
            ),
            y=alt.Y("low:Q", title=title, axis=alt.Axis(tickCount=4)),
            y2=alt.Y2("high:Q"),
        )
        .properties(width=CHART_WIDTH, height=height, description="A signal over time.")
    )


def envelope(signal: Any, n_points: int = POINTS) -> list[tuple[float, float, float]]:
    """Return a signal as few points that look like it: where each piece begins, its lowest and its highest value.

    A piece begins with the last value of the one before, so that neighbours join.

    Examples
    --------
    >>> envelope([0.0, 3.0, -1.0, 2.0], 2)
    [(0.0, 0.0, 3.0), (2.0, -1.0, 3.0)]
    """
    values = np.asarray(signal, dtype=np.float64)
    edges = np.unique(np.linspace(0, len(values), min(n_points, len(values)) + 1).astype(int))
    found = []
    for first, last in pairwise(edges):
        piece = values[max(first - 1, 0) : last]
        found.append((float(first), float(piece.min()), float(piece.max())))
    return found


def spectrogram(signal: Any, rate: float, *, n_times: int = 160, n_frequencies: int = 64, height: int = 200) -> Any:
    """Draw how strong each frequency of a signal is over time, as one picture with axes.

    Parameters
    ----------
    signal, rate, n_times, n_frequencies
        As for :func:`levels`.
    height
        Of the chart.
    """
    alt = import_altair()
    found, seconds = levels(signal, rate, n_times=n_times, n_frequencies=n_frequencies)
    shown = np.clip((found[::-1] - LEAST_LEVEL) / -LEAST_LEVEL * 255, 0, 255).astype(np.uint8)  # high ones on top
    picture = {"t": 0.0, "t2": seconds, "f": 0.0, "f2": rate / 2, "url": png(shown)}
    image = (
        alt.Chart(alt.Data(values=[picture]))
        .mark_image(aspect=False)
        .encode(
            x=alt.X("t:Q", title="seconds", scale=alt.Scale(nice=False), axis=alt.Axis(grid=False)),
            x2=alt.X2("t2:Q"),
            y=alt.Y("f:Q", title="hertz", scale=alt.Scale(nice=False), axis=alt.Axis(grid=False, tickCount=4)),
            y2=alt.Y2("f2:Q"),
            url="url:N",
        )
    )
    # A picture has no legend: two marks that cannot be seen have it.
    scale = alt.Scale(domain=[LEAST_LEVEL, 0.0], range=list(LEVEL_COLOURS))
    key = (
        alt.Chart(alt.Data(values=[{"t": 0.0, "f": 0.0, "level": level} for level in (LEAST_LEVEL, 0.0)]))
        .mark_point(opacity=0)
        .encode(x="t:Q", y="f:Q", color=alt.Color("level:Q", title="dB", scale=scale))
    )
    return alt.layer(image, key).properties(
        width=CHART_WIDTH, height=height, description="Strength of each frequency over time."
    )


def levels(signal: Any, rate: float, *, n_times: int = 160, n_frequencies: int = 64) -> tuple[FloatArray, float]:
    """Return how strong each frequency is over time, in decibels below the strongest, and the seconds of it.

    Parameters
    ----------
    signal
        Samples.
    rate
        Samples in a second.
    n_times, n_frequencies
        Columns, of about that number, and rows, the lowest frequency first.

    Examples
    --------
    >>> seconds = np.arange(4000) / 1000
    >>> found, _ = levels(np.sin(2 * np.pi * 250 * seconds), 1000)  # 250 hertz of 0 to 500
    >>> int(found[:, 80].argmax()), found.shape[0]
    (31, 64)
    """
    from scipy.signal import ShortTimeFFT
    from scipy.signal.windows import hann

    values = np.asarray(signal, dtype=np.float64).ravel()
    width = 2 * n_frequencies
    if values.size < 2 * width:
        raise ValueError(f"The signal has {values.size} samples; a spectrogram takes at least {2 * width}.")
    hop = max(1, values.size // n_times)
    power = ShortTimeFFT(hann(width, sym=False), hop, rate).spectrogram(values)[1:]
    found: FloatArray = 10 * np.log10(np.maximum(power / max(float(power.max()), 1e-300), 1e-8))
    return found, found.shape[1] * hop / rate


def png(shades: NDArray[np.uint8]) -> str:
    """Return a picture as an address that holds it: rows of shades, 0 the weakest colour and 255 the strongest.

    Examples
    --------
    >>> png(np.zeros((2, 3), np.uint8))[:22]
    'data:image/png;base64,'
    """
    anchors = np.array([[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in LEVEL_COLOURS])
    places = np.linspace(0, len(anchors) - 1, 256)
    palette = np.stack([np.interp(places, np.arange(len(anchors)), anchors[:, c]) for c in range(3)], axis=1)
    rows, columns = shades.shape
    lines = np.zeros((rows, columns + 1), np.uint8)  # each begins with the number of its filter, none
    lines[:, 1:] = shades
    header = struct.pack(">IIBBBBB", columns, rows, 8, 3, 0, 0, 0)  # 8 bits, of a palette
    parts = (
        (b"IHDR", header),
        (b"PLTE", palette.round().astype(np.uint8).tobytes()),
        (b"IDAT", zlib.compress(lines.tobytes(), 9)),
        (b"IEND", b""),
    )
    made = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return f"data:image/png;base64,{base64.b64encode(made).decode()}"
