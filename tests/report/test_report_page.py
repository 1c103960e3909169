"""The page as a file: what is in it, what cannot get out of it, and that it is the same every time."""

import html
import json
import re

import numpy as np
import pytest
from scipy import stats

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

import polyad
from pages import HOSTILE, honest, hostile
from polyad import (
    ICA,
    LDA,
    HiddenMarkov,
    IndependentFactors,
    MultiViewMixture,
    NoisyDiscreteICA,
    NonGaussianCCA,
    PolylingualLDA,
    SingleTopic,
    SphericalMixture,
    select_n_components,
)
from polyad.corpus import CorpusSource, TextOptions
from polyad.datasets import (
    make_discrete_cca,
    make_ica,
    make_independent_factors,
    make_lda,
    make_noisy_discrete_ica,
    make_nongaussian_cca,
)
from polyad.io import ModelFileError
from polyad.models import SourceShapes
from polyad.report import charts, write_report
from polyad.report.page import render
from polyad.report.report import make_page


@pytest.fixture(scope="module")
def model_and_all():
    return honest()


@pytest.fixture(scope="module")
def text(model_and_all):
    model, corpus, known = model_and_all
    return render(make_page(model, corpus, **known))


def data_of(text):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])


def test_numbers_of_topics_are_rows_of_components(model_and_all, text):
    model, corpus, _ = model_and_all
    data = data_of(text)
    words = data["views"][0]["words"]
    for k, listed in enumerate(model.topics(10)):
        assert [words[at] for at in data["topics"][k]["top"][0]] == listed
        assert data["topics"][k]["share"] == pytest.approx(model.topic_shares_[k], rel=1e-2)
        for place, probability, *_ in data["views"][0]["wordsOf"][k]:
            column = corpus.vocabulary.index(words[place])
            assert probability == pytest.approx(model.components_[k, column], rel=1e-2)
    shares = model.transform(corpus)
    for k, entries in enumerate(data["documentsOf"]):
        for at, share, _ in entries:
            row = int(data["documents"][at][0].removeprefix("doc-"))
            assert share == pytest.approx(shares[row, k], rel=1e-2)
        assert entries[0][1] > 0.8


def test_shares_over_time_and_in_groups_are_those_of_the_tokens(model_and_all, text):
    model, corpus, known = model_and_all
    tokens = model.transform(corpus) * np.asarray(corpus.counts.sum(axis=1)).reshape(-1, 1)
    data = data_of(text)
    for number, name in enumerate(data["groups"]["names"]):
        own = tokens[[group == name for group in known["groups"]]].sum(axis=0)
        assert data["groups"]["shares"][number] == pytest.approx(own / own.sum(), abs=2e-3)
    rows = data["charts"]["time"]["data"]["values"]
    for year in (1990, 1995):
        own = tokens[[date == year for date in known["dates"]]].sum(axis=0)
        found = {row["topic"]: row["share"] for row in rows if row["x"] == year}
        assert [found[k] for k in range(3)] == pytest.approx(own / own.sum(), abs=1e-4)


def test_the_same_model_gives_the_same_bytes_for_any_number_of_threads(model_and_all, text):
    model, corpus, known = model_and_all
    for n_jobs in (1, 2):
        assert render(make_page(model, corpus, **known, n_jobs=n_jobs)) == text


def test_nothing_is_loaded_and_nothing_foreign_may_run(text):
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1])
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in rules["script-src"]
    assert rules["script-src"].count("'sha256-") == 2
    assert "unsafe" not in rules["style-src"]
    markup = re.sub(r"<script.*?</script>|<style.*?</style>", "", text, flags=re.S)
    assert not re.search(r"\b(src|on\w+)\s*=", markup)
    assert "http" not in markup.replace("http-equiv", "")


def test_a_hostile_corpus_cannot_leave_its_place():
    model, corpus, known = hostile()
    text = render(make_page(model, corpus, **known))
    assert len(re.findall(r"</script", text, re.I)) == 3
    assert len(re.findall(r"<script", re.sub(r'id="data">.*?</script>', "", text, flags=re.S), re.I)) >= 3
    data = data_of(text)
    assert "<script>window.pwned=1</script>" in data["views"][0]["words"]
    assert data["topics"][0]["name"] == HOSTILE[2]
    shown = json.dumps(data, ensure_ascii=False)
    assert not any(character in shown for character in "\u202e\u202c\x00\x07\x1b\u2028\u2029")
    title = re.search(r"<title>(.*?)</title>", text, re.S)[1]
    assert "<" not in title


def test_a_model_alone_has_a_page(model_and_all):
    model, _, _ = model_and_all
    data = data_of(render(make_page(model)))
    assert data["documents"] == []
    assert "coherence" not in data["topics"][0]


def test_a_source_of_text_brings_texts_ids_and_columns(tmp_path):
    from pages import honest_documents

    path = tmp_path / "texts.jsonl"
    rows = [
        {"id": document.id, "text": document.text, "year": year, "place": place}
        for document, year, place in honest_documents()
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    source = CorpusSource(path, options=TextOptions(stop_words="english"))
    model = LDA(3).fit(source)
    data = data_of(render(make_page(model, source, dates="year", groups="place")))
    assert data["groups"]["names"] == ["north", "south"]
    entry = data["documentsOf"][0][0]
    name = data["documents"][entry[0]][0]
    original = next(row["text"] for row in rows if row["id"] == name)
    assert "".join(entry[2][0]).strip("… ") in original
    with pytest.raises(ValueError, match="needs a source of text"):
        make_page(model, source.over(model.vocabulary_, model.text_options_).corpus(), dates="year")


def test_single_topics_and_large_models_have_pages():
    sample = make_lda(300, 40, 4, length=30)
    data = data_of(render(make_page(SingleTopic(4).fit(sample.counts), sample.counts)))
    assert any(name == "Errors" for name, _ in data["facts"])
    model = LDA(3).fit(sample.counts)
    K, rng = 200, np.random.default_rng(0)
    model.components_ = rng.dirichlet(np.full(40, 0.2), K)
    model.topic_shares_ = model.doc_topic_prior_ = rng.dirichlet(np.ones(K))
    data = data_of(render(make_page(model, sample.counts)))
    assert len(data["topics"]) == K
    assert {len(entries) for entries in data["documentsOf"]} <= {1, 2, 3, 4}
    assert "tree" not in data["charts"]


def test_aligned_texts_stand_side_by_side():
    sample = make_discrete_cca(300, (20, 30), 3, n_private=1, private_length=50.0)
    model = PolylingualLDA(3).fit([sample.X, sample.Y])
    data = data_of(render(make_page(model, [sample.X, sample.Y], view_names=["en", "fr"])))
    assert [view["name"] for view in data["views"]] == ["en", "fr"]
    assert all(len(texts) == 2 for entries in data["documentsOf"] for _, _, texts in entries)
    with pytest.raises(ValueError, match="2 aligned texts"):
        make_page(model, [sample.X])


def other_models():
    rng = np.random.default_rng(0)
    signals = make_ica(400, 3, sources="skewed").X
    pair = make_nongaussian_cca(400, (5, 4), 2)
    points = np.vstack([rng.normal(mean, 1, (60, 3)) for mean in (-4, 0, 4)])
    symbols = rng.integers(0, 3, (300, 1))
    views = [rng.integers(0, 4, (200, 6)) for _ in range(3)]
    yield "Mixing", ICA(3), (signals,), signals
    yield "Correlations", NonGaussianCCA(2), (pair.X, pair.Y), [pair.X, pair.Y]
    yield "Means", SphericalMixture(3), (points,), points
    yield "Transitions", HiddenMarkov(2), (symbols,), symbols
    yield "View 2", MultiViewMixture(2), (views,), views
    repeats, noisy = make_independent_factors(400, 5, 2).views, make_noisy_discrete_ica(400, 12, 2).counts
    yield "Variance explained", IndependentFactors(2), (repeats,), repeats
    yield "Components", NoisyDiscreteICA(2), (noisy,), noisy


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("section", "model", "data", "X"), list(other_models()), ids=lambda value: type(value).__name__
)
def test_every_other_model_has_a_page(section, model, data, X):
    model.fit(*data)
    model.names_ = {0: "<b>Zero</b>"}
    for given in (X, None):
        text = render(make_page(model, given))
        found = data_of(text)
        assert section in [part[0] for part in found["sections"]]
        for _, _, drawn, _ in found["sections"]:
            assert all(found["charts"][name]["data"]["values"] for name, _ in drawn)
    assert "<b>Zero" not in text


def test_names_are_kept_in_the_file_and_forgotten_by_another_fit(tmp_path, model_and_all):
    model, corpus, _ = model_and_all
    plain, named = tmp_path / "plain.polyad", tmp_path / "named.polyad"
    model.save(plain)
    try:
        model.names_[1] = "  Courts "
        model.save(named)
        assert polyad.load(named).names_ == {1: "Courts"}
        assert polyad.load(plain).names_ == {}
        assert polyad.io.fingerprint(polyad.load(named)) == polyad.io.fingerprint(polyad.load(plain))
        data = data_of(render(make_page(polyad.load(named))))
        assert data["topics"][1]["name"] == "Courts"
        assert model.topics(as_frame=True).groupby("topic")["name"].first()[1] == "Courts"
        assert "Courts" in model._repr_html_()
        model.names_ = {7: "Nobody"}
        with pytest.raises(ModelFileError, match="no topic 7"):
            model.save(named)
    finally:
        model.names_ = {}
    model.save(named)
    assert named.read_bytes() == plain.read_bytes()
    again = LDA(3).fit(corpus)
    again.names_[0] = "Weather"
    assert again.fit(corpus).names_ == {}


def test_a_suggested_name_is_made_of_words(model_and_all):
    model, _, _ = model_and_all
    names = [topic["name"] for topic in data_of(render(make_page(model)))["topics"]]
    assert len(set(names)) == 3
    for name, words in zip(names, model.topics(3)):
        assert name == ", ".join(words)


def test_notebooks_show_a_table_and_nothing_of_a_corpus_runs_in_them():
    assert "<pre>" in LDA(3)._repr_html_()
    model, _, _ = hostile()
    shown = model._repr_mimebundle_()["text/html"]
    assert "<script" not in shown
    assert "<img" not in shown
    assert shown.count("<tr>") == 3


def test_charts_are_altair_objects_and_become_pictures(tmp_path, model_and_all):
    model, corpus, known = model_and_all
    selection = select_n_components(make_lda(300, 60, 3, length=60).counts, [2, 3])
    drawn = {
        "words": charts.topic_words(model, 5),
        "map": charts.topic_map(model),
        "tree": charts.topic_tree(model),
        "shares": charts.topic_shares(model, corpus, known["dates"]),
        "spectrum": charts.spectrum(model),
        "convergence": charts.convergence(model),
        "selection": charts.selection(selection),
        "recovery": charts.recovery({"moments": [(100, 0.5), (1000, 0.1)], "full": [(100, 0.4), (1000, 0.05)]}),
        "loadings": charts.loadings(np.eye(3)),
        "signals": charts.signals(np.random.default_rng(0).normal(size=(900, 2))),
        "spectrogram": charts.spectrogram(np.sin(np.arange(4000) / 3), 8000.0, n_times=20, n_frequencies=16),
    }
    for chart in drawn.values():
        chart.to_dict()  # with Altair's own check of the whole
    charts.save(drawn["shares"], tmp_path / "a.svg")
    assert "<svg" in (tmp_path / "a.svg").read_text()
    charts.save(drawn["spectrogram"], tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    charts.save(drawn["map"], tmp_path / "a.pdf")
    assert (tmp_path / "a.pdf").read_bytes()[:4] == b"%PDF"
    with pytest.raises(ValueError, match="does not tell the format"):
        charts.save(drawn["map"], tmp_path / "a.gif")
    assert selection._repr_html_().startswith("<svg")


def test_a_spectrogram_has_its_peak_at_the_frequency_of_the_signal():
    seconds = np.arange(8000) / 8000
    chart = charts.spectrogram(np.sin(2 * np.pi * 1000 * seconds), 8000.0, n_times=10, n_frequencies=32).to_dict()
    cells = max(chart["datasets"].values(), key=len) if "datasets" in chart else chart["data"]["values"]
    inner = [cell for cell in cells if 0.2 < cell["t"] < 0.8]
    loudest = max(inner, key=lambda cell: cell["level"])
    assert loudest["f"] - 130 <= 1000 <= loudest["f2"] + 130


def test_densities_of_sources_are_drawn_as_they_were_found():
    grid = np.tile(np.arange(1.0, 201.0), (2, 1))
    gamma = np.stack([stats.gamma.pdf(grid[0], 0.4, scale=50.0), stats.gamma.pdf(grid[1], 3.0, scale=20.0)])
    density, departures = gamma.copy(), np.zeros((2, 2))
    density[1] *= 1.5 - grid[1] / 200
    departures[0, 1] = 0.5
    found = SourceShapes(
        np.ones((4, 2)), np.ones(2), np.ones(2), departures, np.full((2, 2), 0.1), grid, density, gamma
    )
    chart = charts.source_densities(found, ["one", "two"]).to_dict()
    first, second = chart["concat"]
    assert first["title"] == "one: gamma is possible"
    assert second["title"] == "two: not gamma"
    drawn = [row["density"] for row in second["data"]["values"] if row["series"] == "of the moments"]
    assert np.allclose(drawn, density[1], rtol=1e-4)
    top = second["encoding"]["y"]["scale"]["domain"][1]
    assert density[1].max() < top < 2 * density[1].max()
    assert first["encoding"]["y"]["scale"]["domain"][1] < gamma[0, 0], "where it is infinite at zero the rest is seen"
    with pytest.raises(ValueError, match="1 names for 2 sources"):
        charts.source_densities(found, ["one"])


def test_without_the_extra_a_sentence_says_what_to_install(monkeypatch, model_and_all, tmp_path):
    from polyad.report import extra

    monkeypatch.setitem(__import__("sys").modules, "altair", None)
    extra.import_altair.cache_clear()
    try:
        with pytest.raises(ImportError, match=r"pip install 'polyad\[report\]'"):
            write_report(model_and_all[0], tmp_path / "a.html")
    finally:
        extra.import_altair.cache_clear()
    assert not (tmp_path / "a.html").exists()


def test_the_drawing_library_is_kept_whole_or_made_again(monkeypatch, tmp_path):
    from polyad.report import extra

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(extra, "import_vl_convert", lambda: Converter)
    try:
        for _ in range(2):
            extra.drawing_library.cache_clear()
            assert extra.drawing_library() == "made 1"
        kept = next((tmp_path / "polyad").iterdir())
        kept.write_text(kept.read_text() + " and changed")
        extra.drawing_library.cache_clear()
        assert extra.drawing_library() == "made 2"
    finally:
        extra.drawing_library.cache_clear()


class Converter:
    """Stands for vl-convert, and counts."""

    made = 0

    @staticmethod
    def get_vegalite_versions():
        return ["6.1"]

    @classmethod
    def javascript_bundle(cls, *_):
        cls.made += 1
        return f"made {cls.made}"
