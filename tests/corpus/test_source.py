"""A corpus to be read: small, read once a use, and data for every model of counts."""

import io
import json
import pickle
import types
from collections import Counter

import numpy as np
import pytest

from polyad import LDA, DiscreteCCA, DiscreteICA, SingleTopic, bootstrap, load, select_n_components
from polyad.corpus import (
    TOPIC_WORDS,
    CorpusError,
    CorpusSource,
    ReadOptions,
    TextOptions,
    count_words,
    index,
    read_blocks,
    read_corpus,
    write_corpus,
)
from polyad.corpus.documents import Tally
from polyad.corpus.formats import streams
from polyad.corpus.words import counting as count_module
from polyad.engine import count_blocks
from polyad.io import ModelFileError, fingerprint, save

WEATHER = "the rain and the wind of the sea, clouds and thunder"
MONEY = "the budget and the taxes of the state, income and parliament"


def texts_of(n_documents=60, seed=0):
    rng = np.random.default_rng(seed)
    words = [WEATHER.replace(",", "").split(), MONEY.replace(",", "").split()]
    return [
        f"the and of {' '.join(rng.choice(words[rng.integers(2)], 12))} {' '.join(rng.choice(words[0] + words[1], 4))}"
        for _ in range(n_documents)
    ]


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "articles"
    place.mkdir()
    for number, text in enumerate(texts_of()):
        (place / f"{number:03}.txt").write_text(text)
    return place


@pytest.fixture
def seen(monkeypatch):
    """Count how often every file is opened, every document read, and every text split."""
    opened, read, split = Counter(), Counter(), Counter()
    open_file, document, count_chunk = streams._open_file, Tally.document, count_module.count_chunk

    def opening(name):
        opened[name] += 1
        return open_file(name)

    def reading(tally, name, text):
        found = document(tally, name, text)
        read[found.id] += 1
        return found

    def splitting(texts, options):
        split.update(texts)
        return count_chunk(texts, options)

    monkeypatch.setattr(streams, "_open_file", opening)
    monkeypatch.setattr(Tally, "document", reading)
    monkeypatch.setattr(count_module, "count_chunk", splitting)
    return types.SimpleNamespace(opened=opened, read=read, split=split)


def written(tmp_path, kind):
    rows = [{"id": f"d{number}", "text": text} for number, text in enumerate(texts_of(300))]
    path = tmp_path / f"a.{kind}"
    if kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif kind == "csv":
        path.write_text("id,text\n" + "".join(f'{row["id"]},"{row["text"]}"\n' for row in rows))
    else:
        path.write_text("".join(f"{row['text']}\n" for row in rows))
    return path


def test_a_folder_is_read_once(folder, seen):
    corpus = CorpusSource(folder).corpus()
    assert set(seen.opened.values()) == set(seen.read.values()) == {1}
    assert len(seen.opened) == seen.split.total() == len(corpus) == 60
    assert (corpus.report.language, corpus.report.options.min_df) == ("english", 2)
    assert corpus.ids[:2] == ("000.txt", "001.txt")


@pytest.mark.parametrize("kind", ["jsonl", "csv", "txt"])
def test_a_file_is_read_once(tmp_path, seen, kind):
    path = written(tmp_path, kind)
    LDA(2, polish="off").fit(CorpusSource(path))
    assert seen.opened == {str(path): 1}
    assert set(seen.read.values()) == {1}
    assert len(seen.read) == seen.split.total() == 300


def test_standard_input_is_read_once(tmp_path, seen, monkeypatch):
    data = written(tmp_path, "jsonl").read_bytes()
    monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=io.BytesIO(data)))
    corpus = CorpusSource("-").corpus()
    assert (len(corpus), seen.split.total(), seen.opened) == (300, 300, {})
    with pytest.raises(CorpusError, match="there are no documents"):
        CorpusSource("-").corpus()


def test_new_text_is_read_once(folder, seen):
    model = LDA(2, polish="off").fit(CorpusSource(folder))
    seen.opened.clear()
    model.transform(CorpusSource(folder))
    assert set(seen.opened.values()) == {1}


def test_what_is_chosen_is_what_options_would_name(folder):
    corpus = CorpusSource(folder).corpus()
    named = read_corpus(folder, TextOptions(stop_words="english", min_df=2))
    assert corpus.vocabulary == named.vocabulary
    assert (corpus.counts != named.counts).nnz == 0
    assert "the" not in corpus.vocabulary
    assert "the" in CorpusSource(folder, options=None).corpus().vocabulary


@pytest.mark.filterwarnings("ignore:2 topics were asked for")
@pytest.mark.filterwarnings("ignore:These data do not determine")  # few texts
@pytest.mark.parametrize("model_class", [LDA, DiscreteICA, SingleTopic])
def test_models_take_a_source(folder, tmp_path, model_class):
    source = CorpusSource(folder)
    corpus = source.corpus()
    model, same = model_class(2).fit(source), model_class(2).fit(corpus)
    assert model.components_.tobytes() == same.components_.tobytes()
    assert model.vocabulary_ == corpus.vocabulary
    assert model.text_options_ == corpus.report.options
    assert model.transform(source).tobytes() == model.transform(corpus).tobytes()
    assert model.score(source) == model.score(corpus)
    assert np.array_equal(model.top_documents(source, 3), model.top_documents(corpus, 3))
    model.save(tmp_path / "m.polyad")
    loaded = load(tmp_path / "m.polyad")
    assert loaded.text_options_ == corpus.report.options
    assert loaded.transform(source).tobytes() == model.transform(source).tobytes()
    assert fingerprint(loaded) == fingerprint(model) == fingerprint(same)


def test_new_text_is_split_as_the_models_own(folder, tmp_path):
    model = LDA(2).fit(CorpusSource(folder, options=TextOptions(stop_words=["the"], ngrams=(1, 2), min_df=3)))
    new = tmp_path / "new.txt"
    new.write_text("le rain et le wind, rain and wind\n\nunknown\n")
    over = count_words(new.read_text().split("\n")[:-1], model.text_options_, vocabulary=model.vocabulary_)
    found = model.transform(CorpusSource(new))
    assert found.tobytes() == model.transform(over).tobytes()
    assert found.shape == (3, 2)


def test_new_text_is_counted_block_by_block(folder, monkeypatch):
    model = LDA(2).fit(CorpusSource(folder))
    whole = model.transform(CorpusSource(folder))
    monkeypatch.setattr("polyad.corpus.reading.BLOCK_CHARACTERS", 500)
    assert len(list(CorpusSource(folder).over(model.vocabulary_, model.text_options_))) > 5
    assert model.transform(CorpusSource(folder)).tobytes() == whole.tobytes()


def test_a_model_of_counts_takes_a_source_of_counts(folder, tmp_path):
    corpus = CorpusSource(folder).corpus()
    write_corpus(corpus, tmp_path / "docword.a.txt")
    source = CorpusSource(tmp_path / "docword.a.txt")
    assert source.corpus().report.options is None
    model = LDA(2).fit(source)
    assert model.text_options_ is None
    assert model.components_.tobytes() == LDA(2).fit(corpus).components_.tobytes()
    numbered = LDA(2).fit(corpus.counts)
    assert numbered.transform(
        CorpusSource(tmp_path / "docword.a.txt", reading=ReadOptions(vocabulary_file="none"))
    ).shape
    assert select_n_components(source, [1, 2]).recommended in (1, 2)


def test_other_functions_take_a_source(folder):
    source = CorpusSource(folder)
    corpus = source.corpus()
    assert select_n_components(source, [2, 3]).table[0]["bits"] == select_n_components(corpus, [2, 3]).table[0]["bits"]
    model = LDA(2).fit(source)
    errors = bootstrap(model, source, n_replicates=5).standard_errors
    assert errors.tobytes() == bootstrap(model, corpus, n_replicates=5).standard_errors.tobytes()


@pytest.mark.filterwarnings("ignore::polyad.models.UndeterminedWarning")  # sixty documents, and only two kinds of them
def test_two_sources(folder, tmp_path):
    model = DiscreteCCA(2).fit(CorpusSource(folder), CorpusSource(folder, options=None))
    corpora = CorpusSource(folder).corpus(), CorpusSource(folder, options=None).corpus()
    same = DiscreteCCA(2).fit(*corpora)
    assert (model.x_vocabulary_, model.y_vocabulary_) == tuple(corpus.vocabulary for corpus in corpora)
    assert (model.x_text_options_.min_df, model.y_text_options_) == (2, TextOptions())
    assert fingerprint(model) == fingerprint(same)
    assert model.transform(CorpusSource(folder)).tobytes() == same.transform(corpora[0]).tobytes()
    assert model.project(Y=CorpusSource(folder)).tobytes() == same.project(Y=corpora[1]).tobytes()


def test_a_source_is_small_and_can_be_sent(folder):
    source = CorpusSource(folder, options=TOPIC_WORDS, reading=ReadOptions(pattern="*.txt"), n_jobs=1)
    data = pickle.dumps(source)
    assert len(data) < 2000
    assert pickle.loads(data) == source
    over = source.over(["rain", "taxes"])
    assert pickle.loads(pickle.dumps(over)).corpus().vocabulary == ("rain", "taxes")


def test_blocks_can_be_gone_over_again(folder):
    over = CorpusSource(folder).over(("rain", "sea", "taxes"))
    blocks = count_blocks(over)
    assert blocks.shape == (60, 3)
    first, second = (sum(block.rows.sum() for block in blocks) for _ in range(2))
    assert first == second == over.corpus().counts.sum()
    alone = list(CorpusSource(folder).blocks(25))
    assert [len(block) for block in alone] == [25, 25, 10]
    assert count_blocks(CorpusSource(folder)).shape == CorpusSource(folder).corpus().shape


def test_what_reading_in_blocks_gives_is_data(folder):
    words = CorpusSource(folder).corpus().vocabulary
    blocks = list(read_blocks(folder, vocabulary=words, documents=13))
    assert count_blocks(blocks).shape == count_blocks(tuple(blocks)).shape == (60, len(words))
    model = LDA(2).fit(blocks)
    assert model.vocabulary_ == words
    assert model.text_options_ == TextOptions()
    whole = read_corpus(folder, vocabulary=words)
    assert model.components_.tobytes() == LDA(2).fit(whole).components_.tobytes()
    assert model.transform(blocks).tobytes() == model.transform(whole).tobytes()
    once = LDA(2).fit(read_blocks(folder, vocabulary=words, documents=13))
    assert once.components_.tobytes() == model.components_.tobytes()
    other = list(read_blocks(folder, vocabulary=words[::-1], documents=13))
    with pytest.raises(ValueError, match="different words"):
        LDA(2).fit([blocks[0], other[1]])
    with pytest.raises(ValueError, match="over other words"):
        model.transform(other)


def test_progress_is_told_in_blocks(folder):
    told = []
    over = CorpusSource(folder).over(("rain",))
    assert len(list(over.blocks(25, lambda documents, share: told.append((documents, share))))) == 3
    assert [documents for documents, _ in told] == [25, 50, 60]
    assert told[-1][1] == 1.0


def test_faults_are_sentences(folder, tmp_path):
    with pytest.raises(CorpusError, match=r"articles: not one word of the 60 documents is left.*rare words"):
        CorpusSource(folder, options=TextOptions(min_df=100)).corpus()
    with pytest.raises(CorpusError, match="no such file"):
        LDA(2).fit(CorpusSource(tmp_path / "none.txt"))
    model = LDA(2).fit(CorpusSource(folder))
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(CorpusError, match=r"empty.txt: there are no documents"):
        model.transform(CorpusSource(tmp_path / "empty.txt"))
    with pytest.raises(TypeError, match="list of words"):
        CorpusSource(folder, vocabulary="rain")
    with pytest.raises(ModelFileError, match="auto"):
        save(model, tmp_path / "m.polyad", text_options=TOPIC_WORDS)


def test_shards_that_a_source_names_stay_on_disk(folder, tmp_path, monkeypatch):
    shards = index(folder, tmp_path / "x.shards").path
    expected = fingerprint(LDA(2).fit(CorpusSource(folder)))

    def gathered(*_):
        raise AssertionError("all of it is in memory")

    monkeypatch.setattr("polyad.corpus.source.stack", gathered)
    model = LDA(2).fit(CorpusSource(shards))
    assert fingerprint(model) == expected
    assert model.transform(CorpusSource(shards)).shape == (60, 2)
