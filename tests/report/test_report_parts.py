"""What a page is made of: the map, the words, the passes over documents, periods, excerpts and columns."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from polyad import LDA
from polyad.corpus import CorpusError, ReadOptions, TextOptions
from polyad.corpus.formats.columns import read_column
from polyad.datasets import make_lda
from polyad.engine import Shards, write_shards
from polyad.metrics.words import relevance
from polyad.report import passes
from polyad.report.excerpts import excerpt, visible
from polyad.report.geometry import map_of_topics, shared_mass, tree_of_topics
from polyad.report.passes import gather
from polyad.report.periods import MOST_GROUPS, MOST_PERIODS, groups_of, periods_of
from polyad.report.subject import subject_of
from polyad.report.words import WEIGHTS, shown_words

SAMPLE = make_lda(400, 80, 5, length=50, prior=0.1, random_state=1)


@pytest.fixture(scope="module")
def model():
    return LDA(5).fit(SAMPLE.counts)


def topics_like(K, M=40, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(M, 0.1), K)


def distances(found):
    return np.hypot(np.subtract.outer(found.x, found.x), np.subtract.outer(found.y, found.y))


@pytest.mark.parametrize("K", [1, 2, 7, 60, 400])
def test_circles_lie_in_the_square_and_never_overlap(K):
    shares = np.random.default_rng(K).dirichlet(np.full(K, 0.3))
    found = map_of_topics(shared_mass([topics_like(K)]), shares)
    for values in (found.x, found.y):
        assert (values - found.radius >= -1e-9).all()
        assert (values + found.radius <= 1 + 1e-9).all()
    gaps = distances(found) - np.add.outer(found.radius, found.radius)
    assert gaps[~np.eye(K, dtype=bool)].min(initial=1) > -1e-9


def test_the_same_topic_many_times_is_many_circles():
    found = map_of_topics(np.ones((30, 30)), np.full(30, 1 / 30))
    assert found.radius.min() > 0.005
    assert (distances(found) + np.eye(30) > 2 * found.radius.min()).all()


def test_topics_that_share_more_are_closer():
    # Topics along a line of words, each overlapping its neighbours: a random layout has no such correlation.
    grid = np.arange(60)
    topics = np.array([np.exp(-0.5 * ((grid - centre) / 8) ** 2) for centre in range(5, 60, 5)])
    topics /= topics.sum(axis=1, keepdims=True)
    shared = shared_mass([topics])
    upper = np.triu_indices(len(topics), 1)
    found = map_of_topics(shared, np.full(len(topics), 1 / len(topics)))
    assert stats.spearmanr(distances(found)[upper], 1 - shared[upper]).statistic > 0.8
    tree = tree_of_topics(shared)
    assert sorted(tree.leaves) == list(range(len(topics)))
    # Neighbours in the tree are neighbours on the line, but where two branches meet.
    assert np.median(np.abs(np.diff(tree.leaves))) == 1


def test_shared_mass_is_the_sum_of_smaller_probabilities():
    topics = topics_like(6)
    expected = [[sum(min(a, b) for a, b in zip(one, other)) for other in topics] for one in topics]
    assert np.allclose(shared_mass([topics]), expected, atol=1e-12)


def test_the_page_has_the_words_for_every_position_of_the_slider(model):
    found = shown_words(model.components_, model.word_probabilities_, model.topic_shares_, 8)
    for weight in WEIGHTS:
        scores = relevance(model.components_, model.word_probabilities_, weight=weight)
        for k in range(5):
            best = set(np.argsort(-scores[k], kind="stable")[:8].tolist())
            assert best <= set(found.numbers[found.of_topic[k]].tolist())
    joint = model.components_ * model.topic_shares_[:, None]
    shares = joint / joint.sum(axis=0)
    for place in (0, 10, 50):
        word = found.numbers[place]
        assert np.allclose(found.topic_shares[place], np.sort(shares[:, word])[::-1][:5])
        assert np.allclose(shares[found.topics[place], word], found.topic_shares[place])


def gathered_by_hand(model, counts, parts):
    shares, lengths = model.transform(counts), np.asarray(counts.sum(axis=1)).ravel()
    tokens = shares * lengths[:, None]
    sums = np.array([tokens[parts == part].sum(axis=0) for part in range(parts.max() + 1)])
    typical = shares * (lengths / (lengths + passes.SURE))[:, None]
    best = np.array([np.argsort(-typical[:, k], kind="stable")[:4] for k in range(shares.shape[1])])
    leading = np.bincount(shares.argmax(axis=1), minlength=shares.shape[1])
    return shares, tokens.sum(axis=0), sums, best, leading


def test_one_pass_finds_what_loops_over_all_documents_find(model):
    labels = groups_of([str(row % 3) for row in range(400)])
    found = gather(subject_of(model, SAMPLE.counts), 4, [labels])
    shares, tokens, sums, best, leading = gathered_by_hand(model, SAMPLE.counts, labels.part_of)
    assert np.allclose(found.topic_tokens, tokens)
    assert np.allclose(found.tokens_of[0], sums)
    assert found.leading.tolist() == leading.tolist()
    assert found.sizes_of[0].sum() == 400
    documents = found.documents
    for k in range(5):
        assert documents.rows[list(documents.of_topic[k])].tolist() == best[k].tolist()
    assert np.allclose(documents.shares, shares[documents.rows])
    assert (documents.counts[0] != SAMPLE.counts[documents.rows]).nnz == 0


def test_pieces_places_and_threads_change_nothing(model, monkeypatch, tmp_path):
    labels = groups_of([str(row % 3) for row in range(400)])
    whole = gather(subject_of(model, SAMPLE.counts), 4, [labels], n_jobs=1)
    write_shards([SAMPLE.counts], tmp_path / "shards", "given")
    on_disk = gather(subject_of(model, Shards(tmp_path / "shards")), 4, [labels], n_jobs=2)
    monkeypatch.setattr(passes, "MOST_SHARES", 5 * 37)
    in_pieces = gather(subject_of(model, SAMPLE.counts), 4, [labels])
    for other in (in_pieces, on_disk):
        assert other.documents.of_topic == whole.documents.of_topic
        assert other.documents.shares.tobytes() == whole.documents.shares.tobytes()
        assert np.allclose(other.tokens_of[0], whole.tokens_of[0], rtol=1e-12)


def test_wrong_number_of_groups_is_refused(model):
    with pytest.raises(ValueError, match="3 dates or groups are given, and there are 400 documents"):
        gather(subject_of(model, SAMPLE.counts), 4, [groups_of(["a", "b", "c"])])


def test_periods_are_as_fine_as_there_is_room():
    days = [f"2024-{month:02}-{day:02}" for month in (1, 2) for day in range(1, 29)]
    assert periods_of(days).names[0] == "2024-01-01"
    many = [f"20{year:02}-{month:02}-05T10:00:00Z" for year in range(20) for month in range(1, 13)]
    assert periods_of(many).names == tuple(f"20{year:02}" for year in range(20))
    centuries = periods_of([f"{year}-01-01" for year in range(1500, 1900)])
    assert centuries.names[:2] == ("1500", "1510")
    assert len(periods_of(range(10_000)).names) == MOST_PERIODS
    assert periods_of(["1999-12", "", None, float("nan")]).n_without == 3
    with pytest.raises(ValueError, match="Not one document has a date"):
        periods_of(["", None])


def test_the_largest_groups_have_names_and_the_others_one_together():
    values = [f"group {number}" for number in range(40) for _ in range(number + 1)]
    found = groups_of(values)
    assert len(found.names) == MOST_GROUPS + 1
    assert found.names[-1] == "10 other groups"
    assert (found.part_of == MOST_GROUPS).sum() == sum(range(1, 11))


def test_excerpts_mark_words_as_the_corpus_has_them():
    text = "Nothing here. " * 100 + "The courts' judges JUDGED; l'école, a judging judge. " + "More of it. " * 100
    found = excerpt(text, {"judge"}, TextOptions(stemming="english"))
    assert found[1::2] == ["judges", "JUDGED", "judging", "judge"]
    assert found[0].startswith("… ")
    assert found[-1].endswith(" …")
    assert excerpt("l'école et l'Ecole", {"école"}, TextOptions())[1::2] == ["l'école"]
    assert excerpt("", {"a"}, None) == [""]


@given(st.text(max_size=3000), st.sets(st.sampled_from(["a", "the", "x1", "中"]), max_size=3))
@settings(max_examples=40, deadline=None)
def test_excerpts_of_any_text_are_short_and_safe(text, words):
    found = excerpt(text, words, None)
    assert len(found) % 2 == 1
    assert sum(map(len, found)) <= 700
    assert visible("".join(found)) == "".join(found).strip() or "  " in "".join(found)
    assert all(mark.lower().strip() for mark in found[1::2])


@pytest.mark.parametrize("ending", ["jsonl", "csv", "tsv", "parquet"])
def test_a_column_beside_the_text_is_read_from_every_table(tmp_path, ending):
    rows = [("to be", "1600"), ("or not", None), ("to be", "1601")]
    path = tmp_path / f"texts.{ending}"
    if ending == "jsonl":
        path.write_text("".join(json.dumps({"text": text, "year": year}) + "\n" for text, year in rows))
    elif ending == "parquet":
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(pyarrow.table({"text": [row[0] for row in rows], "year": [row[1] for row in rows]}), path)
    else:
        mark = "," if ending == "csv" else "\t"
        path.write_text("".join(f"{mark.join(part or '' for part in row)}\n" for row in [("text", "year"), *rows]))
    assert list(read_column(path, "year")) == ["1600", "", "1601"]
    with pytest.raises(CorpusError, match="nosuch"):
        list(read_column(path, "nosuch"))


def test_rows_that_are_skipped_are_skipped_in_columns_too(tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_text('{"text": "a", "year": 1}\nnot json\n{"text": "b", "year": 2}\n')
    assert list(read_column(path, "year", ReadOptions(skip_bad=True))) == ["1", "2"]


def test_what_has_no_columns_is_refused(tmp_path):
    (tmp_path / "a.txt").write_text("one line\n")
    with pytest.raises(CorpusError, match="has no column 'year'"):
        list(read_column(tmp_path / "a.txt", "year"))
    with pytest.raises(CorpusError, match="folder"):
        list(read_column(tmp_path, "year"))
