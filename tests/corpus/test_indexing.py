import gzip
import json
import random
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from polyad import LDA
from polyad.corpus import CorpusError, CorpusSource, IndexedCorpus, TextOptions, index, make_corpus, read_corpus
from polyad.corpus import write_corpus as write_counts
from polyad.corpus.indexing import chunks, terms
from polyad.corpus.indexing import index as module
from polyad.corpus.indexing.inputs import expand
from polyad.corpus.indexing.terms import Term, Totals
from polyad.corpus.words.choices import TOPIC_WORDS
from polyad.engine import Shards, count_blocks, ordered_by_content, write_shards
from polyad.io import fingerprint
from sharded import tiny_cuts

FAULTS = Path(__file__).parent.parent / "faults.py"
WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "klmnrst"]


def texts(n, seed=0):
    chance = random.Random(seed)
    weights = [1 / (rank + 1) for rank in range(len(WORDS))]
    for number in range(n):
        shift = (number % 2) * 200
        chosen = chance.choices(range(len(WORDS)), weights, k=chance.randrange(0, 40))
        yield f"doc {number}", " ".join(["the", "and", "12", *(WORDS[(at + shift) % len(WORDS)] for at in chosen)])


@pytest.fixture
def files(tmp_path):
    """Three files of JSONL, one of them packed."""
    documents = [json.dumps({"id": name, "text": text}) for name, text in texts(600)]
    for number in range(3):
        part = "\n".join(documents[number * 200 : (number + 1) * 200]).encode() + b"\n"
        file = tmp_path / f"texts-{number}.jsonl"
        file.write_bytes(part)
    return tmp_path


def small_chunks(monkeypatch, characters=4_000):
    monkeypatch.setattr(module, "CHUNK_CHARACTERS", characters)


def in_memory(folder, options=TOPIC_WORDS, **more):
    """Return the same documents by the other way: all in one file, counted in memory, and put in order."""
    whole = folder / "all.jsonl"
    whole.write_bytes(b"".join(file.read_bytes() for file in sorted(folder.glob("texts-*.jsonl"))))
    return read_corpus(whole, options, **more)


def contents(folder):
    return {file.name: file.read_bytes() for file in Path(folder).iterdir()}


OPTIONS = {
    "topic words": TOPIC_WORDS,
    "all words": TextOptions(numbers="keep", min_length=1),
    "bounds": TextOptions(min_df=5, max_df=0.3, max_features=50),
    "pairs": TextOptions(ngrams=(1, 2), min_df=3),
    "stems": TextOptions(stemming="english", min_df=2, max_features=90),
    "stems of the language": TextOptions(stop_words="auto", stemming="auto", min_df=2),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_the_counts_are_those_of_memory(files, monkeypatch, name):
    small_chunks(monkeypatch)
    monkeypatch.setattr(terms.Totals.__init__, "__defaults__", (40,))  # most terms wait in files
    corpus = index(sorted(files.glob("texts-*.jsonl")), files / "x", OPTIONS[name])
    expected = in_memory(files, OPTIONS[name])
    assert corpus.vocabulary == expected.vocabulary
    assert corpus.report.dropped == expected.report.dropped
    assert corpus.report.options == expected.report.options
    for told in ("language", "languages", "sampled"):
        assert getattr(corpus.report, told) == getattr(expected.report, told)
    assert (corpus.report.tokens, corpus.report.empty_documents, corpus.report.min_df) == (
        expected.report.tokens,
        expected.report.empty_documents,
        expected.report.min_df,
    )
    ordered = ordered_by_content(count_blocks(expected.counts)).shard(0)
    found = corpus.counts.shard(0)
    assert corpus.counts.is_canonical
    assert (found.rows != ordered.rows).nnz == 0
    by_id = dict(zip(expected.ids, expected.counts.toarray().tolist()))
    assert dict(zip(corpus.ids[:], found.rows.toarray().tolist())) == by_id


ENGLISH = ["the rain and the wind of the sea are not what they were", "we raise the taxes of the state because of you"]
FRENCH = ["la pluie et le vent de la mer ne sont pas dans le port", "nous avons voté les impôts pour cette nation"]
CZECH = ["dvě děti si hrají s míčem na pláži", "žena s kloboukem čte knihu", "pes běží po trávě a kočka spí na gauči"]
CHINESE = ["我们的生活", "他们在北京的大学学习"]


@pytest.mark.parametrize(
    ("given", "languages"),
    [
        (ENGLISH * 30 + FRENCH * 20, {"english": 60, "french": 40}),
        (FRENCH * 9 + ENGLISH * 200, {"english": 418}),
        (CZECH * 20, {"czech": 60}),
        (CHINESE * 20, {"chinese": 40}),
        (["x1 y2 z3"] * 9, {}),
    ],
)
@pytest.mark.parametrize("order", [1, -1])
def test_all_documents_tell_the_languages(tmp_path, monkeypatch, given, languages, order):
    """By whatever way and in whatever order they come."""
    small_chunks(monkeypatch, 300)
    file = tmp_path / "texts.txt"
    file.write_text("\n".join(given[::order]), encoding="utf-8")
    options = TextOptions(stop_words="auto")
    corpus, expected = index(file, tmp_path / "x", options), read_corpus(file, options)
    assert dict(corpus.report.languages) == languages
    assert corpus.report.languages == expected.report.languages
    assert corpus.report.options == expected.report.options
    assert corpus.report.dropped == expected.report.dropped
    assert corpus.vocabulary == expected.vocabulary
    assert len(list(IndexedCorpus(tmp_path / "x").blocks())) == 1


@pytest.mark.parametrize("scale", [1.0, 0.25, 1e10])
@pytest.mark.filterwarnings("ignore:X has the fractional count")
def test_blocks_have_the_counts_of_the_shards(tmp_path, scale):
    counts = scale * np.array([[3.0, 0.0, 2.0], [1.0, 5.0, 0.0], [0.0, 0.0, 7.0]])
    write_shards(count_blocks(counts), tmp_path / "x")
    (block,) = CorpusSource(tmp_path / "x").blocks()
    numbers = list(map(int, block.ids))
    assert sorted(numbers) == [0, 1, 2]
    assert np.array_equal(block.counts.toarray(), counts[numbers])
    assert (block.counts.dtype == np.int32) == (scale == 1.0)


def test_stems_of_given_words(files, tmp_path):
    words, options = ["zebras", "the", *sorted(WORDS)[:50]], TextOptions(stop_words="auto", stemming="auto")
    corpus = index(sorted(files.glob("texts-*.jsonl")), tmp_path / "x", options, vocabulary=words)
    expected = in_memory(files, options, vocabulary=words)
    assert corpus.report.dropped == expected.report.dropped
    assert corpus.report.tokens == expected.report.tokens


def test_runs_of_words_warn_of_other_languages_further_on(tmp_path):
    file = tmp_path / "texts.txt"
    file.write_text("\n".join(FRENCH * 120 + ENGLISH * 600), encoding="utf-8")
    with pytest.warns(UserWarning, match=r"first 200 documents \(french language\), and others are in english"):
        index(file, tmp_path / "x", TextOptions(stop_words="auto", ngrams=(1, 2)))


def test_a_model_of_shards_is_the_model_of_memory(files, monkeypatch):
    small_chunks(monkeypatch)
    corpus = index(sorted(files.glob("texts-*.jsonl")), files / "x")
    expected = LDA(2).fit(in_memory(files))
    for X in (corpus, Shards(files / "x"), CorpusSource(files / "x")):
        model = LDA(2).fit(X)
        assert fingerprint(model) == fingerprint(expected)
        assert model.vocabulary_ == expected.vocabulary_
        assert model.text_options_ == expected.text_options_
        assert model.transform(X).shape == (600, 2)
    other = index(sorted(files.glob("texts-*.jsonl")), files / "y", TextOptions(min_df=30))
    with pytest.raises(ValueError, match="counted over other words"):
        expected.transform(other.counts)
    counted = expected.transform(CorpusSource(files / "y"))  # over the words of the model, those it lacks are zero
    assert counted.shape == (600, 2)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_bytes_depend_on_the_documents_alone(files, monkeypatch, n_jobs):
    """In other files, another order and another number of processes: the same shards, and the same row for each id."""
    small_chunks(monkeypatch)
    one = index(sorted(files.glob("texts-*.jsonl")), files / "x")
    (files / "turned").mkdir()
    lines = [line for file in sorted(files.glob("texts-*.jsonl")) for line in file.read_bytes().splitlines(True)]
    for number in range(2):
        part = b"".join(reversed(lines[number::2]))
        (files / "turned" / f"{number}.jsonl.gz").write_bytes(gzip.compress(part))
    small_chunks(monkeypatch, 30_000)
    other = index(files / "turned", files / "y", n_jobs=n_jobs)
    a, b = contents(one.path), contents(other.path)
    # Which of two equal documents comes first does not matter, and is not settled.
    settled = {name for name in a if name.startswith(("shard-", "vocabulary"))}
    assert set(a) == set(b)
    assert {name: a[name] for name in settled} == {name: b[name] for name in settled}
    assert not np.array_equal(one.counts.row_numbers(), other.counts.row_numbers())
    rows = [dict(zip(corpus.ids[:], corpus.counts.shard(0).rows.toarray().tolist())) for corpus in (one, other)]
    assert rows[0] == rows[1]
    assert len(rows[0]) == 600


def test_given_words_and_counts(files, tmp_path):
    words = ["zebra", *sorted(WORDS)[:50]]
    corpus = index(sorted(files.glob("texts-*.jsonl")), tmp_path / "x", vocabulary=words)
    expected = in_memory(files, vocabulary=words)
    assert corpus.vocabulary == tuple(words)
    assert corpus.report.dropped["unknown words"] == expected.report.dropped["unknown words"]
    assert corpus.report.tokens == expected.report.tokens

    write_counts(expected, tmp_path / "docword.a.txt")
    for name, file in (("uci", "docword.a.txt"), ("mtx", "a.mtx")):
        write_counts(expected, tmp_path / file, overwrite=True)
        again = index(tmp_path / file, tmp_path / name)
        assert again.vocabulary == tuple(words)
        assert again.report.options is None
        assert (again.counts.shard(0).rows != corpus.counts.shard(0).rows).nnz == 0
    with pytest.raises(ValueError, match="Counts are indexed with the words that they have"):
        index(tmp_path / "docword.a.txt", tmp_path / "z", TextOptions(min_df=5))


def test_counts_without_words_stay_numbers(tmp_path):
    counts = make_corpus(np.random.default_rng(0).poisson(3, (50, 5)))
    write_counts(counts, tmp_path / "a.mtx")
    corpus = index(tmp_path / "a.mtx", tmp_path / "x")
    assert corpus.words is None
    assert corpus.vocabulary == tuple("01234")
    assert LDA(1).fit(corpus).vocabulary_ is None


def test_inputs(tmp_path):
    for name in ("a.csv", "b.csv.zst", ".hidden.csv"):
        (tmp_path / name).write_text("")
    assert [Path(file).name for file in expand(tmp_path)] == ["a.csv", "b.csv.zst"]
    (tmp_path / "note.txt").write_text("")
    assert expand(tmp_path) == (str(tmp_path),)
    assert [Path(file).name for file in expand(f"{tmp_path}/*.zst")] == ["b.csv.zst"]
    with pytest.raises(CorpusError, match="no file has a name of this pattern"):
        expand(f"{tmp_path}/*.parquet")
    with pytest.raises(ValueError, match="Standard input"):
        expand(["-", tmp_path])
    with pytest.raises(ValueError, match="no input"):
        expand([])


def test_numbers_go_on_from_file_to_file(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text(f"to be {name}x\nor not {name}y\n")
    corpus = index([tmp_path / "a.txt", tmp_path / "b.txt"], tmp_path / "x", TextOptions())
    assert sorted(corpus.ids[:]) == ["0", "1", "2", "3"]
    rows = dict(zip(corpus.ids[:], corpus.counts.shard(0).rows.toarray()))
    assert rows["2"][corpus.vocabulary.index("bx")] == 1


def test_what_was_counted_is_not_counted_again(files, monkeypatch):
    small_chunks(monkeypatch)
    paths = sorted(files.glob("texts-*.jsonl"))
    whole = contents(index(paths, files / "whole").path)
    written, real = [], chunks.write_chunk

    def failing(file, chunk):
        if len(written) == 7:
            raise OSError(28, "No space left on device", str(file))
        written.append(file)
        real(file, chunk)

    monkeypatch.setattr(module, "write_chunk", failing)
    with pytest.raises(OSError, match="No space left"):
        index(paths, files / "x")
    assert not (files / "x").exists()
    with pytest.raises(CorpusError, match="begun this with other options"):
        index(paths, files / "x", TextOptions())
    again = []
    monkeypatch.setattr(module, "write_chunk", lambda file, chunk: (again.append(file), real(file, chunk)))
    assert contents(index(paths, files / "x").path) == whole
    assert again
    assert not set(again) & set(written)
    assert not [file for file in files.iterdir() if file.name.startswith(".")]


def test_another_input_is_not_mixed_with_what_was_counted(files, monkeypatch):
    small_chunks(monkeypatch)
    paths = sorted(files.glob("texts-*.jsonl"))
    monkeypatch.setattr(module, "_finish", lambda *args, **kwargs: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        index(paths, files / "x")
    monkeypatch.undo()
    small_chunks(monkeypatch)
    whole = paths[0].read_bytes()
    paths[0].write_bytes(whole.replace(b"the", b"teh", 1))
    with pytest.raises(CorpusError, match=r"the input has changed since chunk 0 was counted.*--restart"):
        index(paths, files / "x")
    paths[0].write_bytes(whole)
    paths[2].write_bytes(b"")
    with pytest.raises(CorpusError, match=r"the input has (changed|become shorter).*--restart"):
        index(paths, files / "x")
    assert len(index(paths, files / "x", restart=True)) == 400


def test_a_damaged_chunk_is_named(files, monkeypatch):
    small_chunks(monkeypatch)
    paths = sorted(files.glob("texts-*.jsonl"))
    monkeypatch.setattr(module, "_finish", lambda *args, **kwargs: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        index(paths, files / "x")
    monkeypatch.undo()
    small_chunks(monkeypatch)
    file = files / ".x.work" / "chunks" / "chunk-0000003.npz"
    raw = bytearray(file.read_bytes())
    raw[len(raw) // 2] ^= 1
    file.write_bytes(raw)
    with pytest.raises(CorpusError, match=r"chunk-0000003.npz: the file of counted documents is damaged"):
        index(paths, files / "x")
    file.unlink()
    assert len(index(paths, files / "x")) == 600


def test_one_bit_is_found_and_named(files):
    with tiny_cuts():
        corpus = index(sorted(files.glob("texts-*.jsonl")), files / "x")
    assert corpus.counts.n_shards > 4
    victims = ["shard-00002-view-0-indices.npy", "vocabulary.txt", "ids.npy", "corpus.json"]
    for victim in victims:
        file = files / "x" / victim
        whole = file.read_bytes()
        raw = bytearray(whole)
        raw[-20] ^= 1
        file.write_bytes(raw)
        with pytest.raises(ValueError, match=rf"{victim}.*damaged"):
            IndexedCorpus(files / "x").verify()
        file.write_bytes(whole)
    IndexedCorpus(files / "x").verify()


def test_a_fit_does_not_learn_from_a_flipped_bit(files):
    with tiny_cuts():
        index(sorted(files.glob("texts-*.jsonl")), files / "x")
        file = files / "x" / "shard-00003-view-0-data.npy"
        raw = bytearray(file.read_bytes())
        raw[-3] ^= 1
        file.write_bytes(raw)
        with pytest.raises(ValueError, match=r"shard-00003-view-0-data.npy is damaged"):
            LDA(2).fit(Shards(files / "x"))


def test_nothing_else_is_replaced(files):
    paths = sorted(files.glob("texts-*.jsonl"))
    index(paths, files / "x")
    before = contents(files / "x")
    with pytest.raises(FileExistsError, match="is there already"):
        index(paths, files / "x")
    index(paths, files / "x", TextOptions(), overwrite=True)
    assert contents(files / "x") != before
    (files / "other").mkdir()
    (files / "other" / "thesis.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="is no folder of shards"):
        index(paths, files / "other", overwrite=True)
    with pytest.raises(CorpusError, match="not one word of the 600 documents is left"):
        index(paths, files / "none", TextOptions(min_df=601))


def test_killed_when_only_the_work_was_left_to_remove(files, monkeypatch):
    paths = sorted(files.glob("texts-*.jsonl"))
    real = module.shutil.rmtree

    def killed_before(path, *given, **options):
        if str(path).endswith(".x.work"):
            raise KeyboardInterrupt
        real(path, *given, **options)

    monkeypatch.setattr(module.shutil, "rmtree", killed_before)
    with pytest.raises(KeyboardInterrupt):
        index(paths, files / "x")
    monkeypatch.undo()
    assert (files / ".x.work").exists()
    with pytest.raises(FileExistsError, match="is there already"):
        index(paths, files / "x")
    assert not (files / ".x.work").exists()
    assert len(IndexedCorpus(files / "x")) == 600


def killed(task, folder, kills, seed):
    found = subprocess.run(
        [sys.executable, FAULTS, task, folder, str(kills), str(seed)], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    return int(found.stdout)


@pytest.mark.parametrize("kills", [4, pytest.param(20, marks=pytest.mark.slow)])
def test_killed_at_random_moments(files, kills):
    killed("index", files, kills, seed=kills)
    assert contents(files / "killed") == contents(files / "whole")
    assert not (files / ".killed.work").exists()


def test_a_full_disk_leaves_nothing_half_written(files):
    """A limit on the size of files stands for a disk that is full in the middle of the shards."""
    code = (
        "import resource, signal, sys, pathlib\n"
        "from polyad.corpus import index\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))\n"
        "try:\n"
        "    index(sorted(folder.glob('texts-*.jsonl')), folder / 'x', n_jobs=1)\n"
        "except OSError as error:\n"
        "    print(error)\n"
    )
    limits = (30_000, 90_000)  # in the chunks, and in the shards
    for limit in limits:
        found = subprocess.run([sys.executable, "-c", code, files, str(limit)], capture_output=True, text=True)
        assert "File too large" in found.stdout, found
        assert str(files) in found.stdout
        assert not (files / "x").exists()
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    assert len(index(sorted(files.glob("texts-*.jsonl")), files / "x")) == 600


def test_terms_beyond_memory_add_up(tmp_path):
    chance = np.random.default_rng(0)
    totals, expected = Totals(tmp_path / "runs", most=5), {}
    for _ in range(20):
        names = [f"w{n}" for n in np.unique(chance.integers(0, 30, 8))]
        totals.add(names, [1] * len(names), [3] * len(names))
        for name in names:
            documents, tokens = expected.get(name, (0, 0))
            expected[name] = documents + 1, tokens + 3
    assert list(totals) == [Term(name, *expected[name]) for name in sorted(expected)]
    assert list(totals) == list(totals)


def test_a_corpus_without_documents_leaves_nothing(tmp_path):
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "texts.txt").write_text("cats and dogs\nbonds and stocks\n" * 5)
    with pytest.raises(CorpusError, match="no documents"):
        index(tmp_path / "empty.txt", tmp_path / "corpus.shards")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty.txt", "texts.txt"]
    assert len(index(tmp_path / "texts.txt", tmp_path / "corpus.shards")) == 10
