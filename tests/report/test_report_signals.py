"""Signals as bands and spectrograms, on pages and as charts."""

import base64
import struct
import zlib

import numpy as np
import pytest

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

import itertools

from polyad import ICA
from polyad.datasets import make_ica
from polyad.report import charts
from polyad.report.report import make_page
from polyad.report.signals import LEAST_LEVEL, envelope, levels, png


def unpacked(address):
    """Read a picture of a palette: its colours, and the number of the colour of every pixel."""
    data, at, parts = base64.b64decode(address.split(",")[1]), 8, {}
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0]
        parts[kind], at = body, at + 12 + size
    columns, rows, *how = struct.unpack(">IIBBBBB", parts[b"IHDR"])
    assert how == [8, 3, 0, 0, 0]
    lines = np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8).reshape(rows, columns + 1)
    assert not lines[:, 0].any()
    return np.frombuffer(parts[b"PLTE"], np.uint8).reshape(-1, 3), lines[:, 1:]


def test_a_picture_comes_back_as_it_was():
    shades = np.arange(60, dtype=np.uint8).reshape(5, 12) * 4
    colours, found = unpacked(png(shades))
    assert np.array_equal(found, shades)
    assert colours.shape == (256, 3)
    brightness = colours @ [0.3, 0.6, 0.1]
    assert (np.diff(brightness) > -1).all()  # the stronger the brighter
    assert brightness[-1] - brightness[0] > 150


@pytest.mark.parametrize("frequency", [300, 1000, 3100])
def test_a_spectrogram_is_brightest_at_the_frequency_of_the_signal(frequency):
    seconds = np.arange(8000) / 8000
    found, length = levels(np.sin(2 * np.pi * frequency * seconds), 8000.0, n_times=10, n_frequencies=32)
    width = 4000 / 32
    rows = found[:, 3:-3].argmax(axis=0)
    assert np.abs((rows + 1) * width - frequency).max() <= width  # the constant term is not among the rows
    assert length == pytest.approx(1.0, rel=0.4)
    chart = charts.spectrogram(np.sin(2 * np.pi * frequency * seconds), 8000.0, n_times=10, n_frequencies=32)
    picture = chart.to_dict()["layer"][0]["data"]["values"][0]
    _, shades = unpacked(picture["url"])
    assert picture["f2"] == 4000
    brightest = shades.shape[0] - 1 - shades[:, 3:-3].argmax(axis=0)  # high frequencies are on top
    assert np.array_equal(brightest, rows)


def test_silence_and_a_click_are_told_apart_and_short_signals_refused():
    signal = np.zeros(4000)
    signal[2000] = 1
    found, _ = levels(signal, 1000.0)
    loud = found.max(axis=0) > LEAST_LEVEL
    assert 0 < loud.sum() < 20
    with pytest.raises(ValueError, match="100 samples; a spectrogram takes at least 256"):
        levels(np.zeros(100), 1000.0)


def test_a_band_holds_every_value_and_joins_its_neighbours():
    signal = np.random.default_rng(0).normal(size=1003).cumsum()
    band = envelope(signal, 50)
    assert len(band) == 50
    for (first, low, high), (last, *_) in zip(band, [*band[1:], (1003, 0, 0)]):
        assert low == signal[max(int(first) - 1, 0) : int(last)].min()
        assert high == signal[max(int(first) - 1, 0) : int(last)].max()
    assert all(low <= before[2] and high >= before[1] for before, (_, low, high) in itertools.pairwise(band))


def test_the_page_of_signals_has_seconds_and_spectrograms_where_the_rate_is_known(tmp_path):
    signals = make_ica(2000, 3, sources="skewed").X
    model = ICA(3).fit(signals)
    plain, timed = make_page(model, signals), make_page(model, signals, rate=500.0)
    titles = [section[0] for section in timed.data["sections"]]
    assert titles == ["Sources", "Spectrograms", "Mixing", "Certainty"]
    assert [section[0] for section in plain.data["sections"]] == ["Sources", "Mixing", "Certainty"]
    ends = [page.charts["chart-0"].to_dict()["data"]["values"][-1]["x"] for page in (plain, timed)]
    assert ends[0] == pytest.approx(2000, rel=0.01)
    assert ends[1] == pytest.approx(4, rel=0.01)
    assert [caption for _, caption in timed.data["sections"][1][2]] == ["source 0", "source 1", "source 2"]
    file = tmp_path / "spectrogram.svg"
    charts.save(charts.spectrogram(signals[:, 0], 500.0), file)
    assert "data:image/png;base64," in file.read_text("utf-8")
