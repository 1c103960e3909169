"""Every command on small data, in this process: data, messages, exit codes."""

import csv
import gzip
import io
import json
from contextlib import contextmanager

import numpy as np
import pytest

from polyad import HiddenMarkov, IndependentFactors, MultiViewMixture, SphericalMixture
from polyad.cli.terminal.errors import explain
from polyad.cli.terminal.text import clean
from polyad.cli.terminal.wording import for_people
from polyad.corpus.formats.streams import BUFFER_BYTES
from polyad.datasets import make_hmm, make_independent_factors, make_multiview_mixture
from polyad.io import load


def rows_of(text):
    return list(csv.reader(io.StringIO(text)))


def test_fit_shows_topics_and_says_what_it_did(polyad, corpus, tmp_path):
    out = tmp_path / "m.polyad"
    done = polyad("fit", corpus, "-k", 2, "-o", out)
    assert done.code == 0
    header, *topics = [line.split("\t") for line in done.out.splitlines()]
    assert header == ["topic", "share", "words"]
    assert len(topics) == 2
    assert any("rain" in words and "taxes" not in words for _, _, words in topics)
    assert "Language: english" in done.err
    for step in ("Reading: ", "Splitting: ", "Fitting: ", "Dropped: "):
        assert step in done.err
    assert str(out) in done.err
    assert load(out).vocabulary_ is not None


def test_fit_without_output_says_that_the_model_is_not_kept(polyad, corpus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = polyad("fit", corpus, "-k", 2)
    assert done.code == 0
    assert "not kept" in done.err
    assert list(tmp_path.iterdir()) == []


def test_fit_json_is_one_object(polyad, corpus, tmp_path):
    done = polyad("fit", corpus, "-k", 2, "-o", tmp_path / "m.polyad", "--json")
    values = done.json()
    assert all(line.startswith("Note: ") for line in done.err.splitlines())
    assert len(values["notes"]) == len(done.err.splitlines())
    assert values["corpus"]["documents"] == 12
    assert values["corpus"]["language"] == "english"
    assert set(values["seconds"]) == {"reading", "splitting", "fitting", "steps"}
    assert sum(topic["share"] for topic in values["topics"]) == pytest.approx(1)
    assert values["corpus"]["dropped"]["stop words"]["tokens"] > 0


def test_fit_quiet_prints_nothing(polyad, corpus, tmp_path):
    done = polyad("fit", corpus, "-k", 2, "-o", tmp_path / "m.polyad", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")


@pytest.mark.parametrize("command", [("fit", "-k", 2), ("select", "--max", 3)])
def test_a_bar_on_a_terminal_alone_and_only_where_it_is_wanted(polyad, corpus, tmp_path, monkeypatch, command):
    drawn = []

    @contextmanager
    def bar(description):
        yield lambda *told: drawn.append(told)

    monkeypatch.setattr("polyad.engine.shown.bar", bar)
    monkeypatch.setattr("polyad.cli.terminal.output.bar", bar)
    name, *options = command
    assert polyad(name, corpus, *options).code == 0
    assert drawn == []
    monkeypatch.setattr("polyad.cli.terminal.output.can_draw", lambda: True)
    assert polyad(name, corpus, *options, "--quiet", *(["-o", tmp_path / "m"] if name == "fit" else [])).code == 0
    assert polyad(name, corpus, *options, "--json").code == 0
    assert drawn == []
    assert polyad(name, corpus, *options).code == 0
    assert drawn[-1] == (1.0, "", 0.0)
    assert any("pass 2 of at most" in text for _, text, *_ in drawn)


def test_the_same_call_writes_the_same_bytes(polyad, corpus, tmp_path):
    for name, jobs in (("a", 1), ("b", 2)):
        polyad("fit", corpus, "-k", 2, "-o", tmp_path / name, "--jobs", jobs, "-q")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("model", ["lda", "discrete-ica", "single-topic"])
@pytest.mark.parametrize("polish", ["off", "full", "2"])
def test_every_model_is_fitted(polyad, corpus, tmp_path, model, polish):
    done = polyad("fit", corpus, "-k", 2, "--model", model, "--polish", polish, "-o", tmp_path / "m", "--json", "-q")
    assert done.code == 0
    assert done.json()["class"].lower() == model.replace("-", "")
    assert polyad("transform", tmp_path / "m", corpus).code == 0


def test_words_are_chosen_by_the_options(polyad, corpus):
    def words(*options):
        values = polyad("fit", corpus, "-k", 2, "--json", "-q", "-n", 100, *options).json()
        return {word for topic in values["topics"] for word in topic["words"]}

    plain = words("--min-df", 1)
    assert "the" in words("--stop-words", "none")
    assert "the" not in plain
    assert words("--min-df", 3) < plain
    assert words("--min-df", "25%") == words("--min-df", 3)
    assert "taxes" not in words("--max-df", "0.3")
    assert len(words("--max-features", 5)) == 5
    assert min(map(len, words("--min-length", 6))) >= 6
    assert any(" " in word for word in words("--ngrams", 2, "--min-df", 1))
    assert all(" " in word for word in words("--ngrams", "2-2", "--min-df", 1))
    assert len(words("--stem", "auto", "--min-df", 1)) <= len(plain)


def test_a_file_of_stop_words(polyad, corpus, tmp_path):
    (tmp_path / "stop.txt").write_text("the\nand\nrain\n")
    values = polyad("fit", corpus, "-k", 2, "--stop-words", tmp_path / "stop.txt", "--json", "-n", 50).json()
    assert "rain" not in {word for topic in values["topics"] for word in topic["words"]}
    assert values["corpus"]["language"] is None


def test_where_a_file_of_stop_words_lies_is_not_told(polyad, corpus, tmp_path):
    for name in ("one", "another"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "stop.txt").write_text("the\nand\nof\n")
        call = ["fit", corpus, "-k", 2, "--stop-words", tmp_path / name / "stop.txt", "-o", tmp_path / f"{name}.polyad"]
        assert polyad(*call, "-q").code == 0
    assert (tmp_path / "one.polyad").read_bytes() == (tmp_path / "another.polyad").read_bytes()
    assert "stop words file (3)" in polyad("info", tmp_path / "one.polyad").out


def test_endless_words_are_not_printed(polyad, tmp_path):
    blob = "x" * 1_000_000
    (tmp_path / "a.txt").write_text(f"rain wind {blob} {'y' * 9999}\nrain sea sun {'y' * 9999}\ntaxes budget sea\n" * 3)
    for options in ((), ("--json",)):
        done = polyad("fit", tmp_path / "a.txt", "-k", 1, "--stop-words", "none", "--min-df", 1, *options)
        assert done.code == 0
        assert len(done.out) + len(done.err) < 15_000
    (tmp_path / "a.csv").write_text(f"{blob},b\n1,2\n")
    done = polyad("fit", tmp_path / "a.csv")
    assert done.code == 1
    assert len(done.err) < 2000
    assert len(polyad("fit", tmp_path / "a.csv", "--text-column", blob).err) < 2000


def test_text_without_a_language_keeps_its_words_and_says_so(polyad, tmp_path):
    (tmp_path / "a.txt").write_text("alpha beta gamma\nbeta gamma delta\n" * 12)
    done = polyad("fit", tmp_path / "a.txt", "-k", 2)
    assert done.code == 0
    assert "No language was found" in done.err


def test_chinese_is_noticed(polyad, tmp_path):
    (tmp_path / "a.txt").write_text("我们 今天 去 公园\n天气 很 好 我们 高兴\n" * 12, encoding="utf-8")
    assert "--tokenizer chinese" in polyad("fit", tmp_path / "a.txt", "-k", 2).err


def test_standard_input_is_read_once_and_whole(polyad, corpus):
    with open(corpus, "rb") as file:
        data = file.read()
    direct = polyad("fit", corpus, "-k", 2, "--json").json()
    for given in (data, gzip.compress(data)):
        piped = polyad("fit", "-", "--format", "csv", "-k", 2, "--json", stdin=given).json()
        assert piped["topics"] == direct["topics"]
        assert piped["corpus"] == direct["corpus"]


def test_standard_input_may_be_longer_than_any_buffer(polyad):
    lines = b"the rain and the wind of the sea\nthe taxes and the budget of the state\n" * 10_000
    assert len(lines) > 2 * BUFFER_BYTES
    values = polyad("fit", "-", "-k", 2, "--json", stdin=lines).json()
    assert values["corpus"]["documents"] == 20_000
    assert values["corpus"]["language"] == "english"


def test_counts_are_taken_as_they_are(polyad, corpus, tmp_path):
    assert polyad("convert", corpus, tmp_path / "docword.a.txt").code == 0
    values = polyad("fit", tmp_path / "docword.a.txt", "-k", 2, "--json", "-o", tmp_path / "m").json()
    assert values["corpus"]["dropped"] == {}
    assert load(tmp_path / "m").text_options_ is None
    stopped = polyad("fit", tmp_path / "docword.a.txt", "-k", 2, "--stop-words", "en", "--json").json()
    assert stopped["corpus"]["words"] < values["corpus"]["words"]
    table = polyad("transform", tmp_path / "m", tmp_path / "docword.a.txt")
    assert len(rows_of(table.out)) == 13
    assert polyad("transform", tmp_path / "m", corpus).code == 0


def test_counts_without_words_have_numbers(polyad, tmp_path):
    from scipy.sparse import csr_array, save_npz

    counts = csr_array(np.random.default_rng(0).poisson(1.0, (30, 8)))
    save_npz(tmp_path / "a.npz", counts)
    assert polyad("fit", tmp_path / "a.npz", "-k", 2, "-o", tmp_path / "m", "-q").code == 0
    assert polyad("topics", tmp_path / "m").out.count("\n") == 3
    assert len(rows_of(polyad("transform", tmp_path / "m", tmp_path / "a.npz").out)) == 31


def test_topics(polyad, model):
    for by in ("relevance", "probability", "lift"):
        values = polyad("topics", model, "-n", 3, "--by", by, "--json").json()
        assert [len(topic["words"]) for topic in values["topics"]] == [3, 3]
    assert polyad("topics", model, "-q").out.startswith("topic\tshare\twords\n")


@pytest.mark.filterwarnings("ignore::polyad.models.UndeterminedWarning")  # sixty rows, for their sizes
def test_info_of_mixtures(polyad, tmp_path):
    path = tmp_path / "m.polyad"
    chain, views = make_hmm(5, 40, 6, 2), make_multiview_mixture(60, (5, 4, 3), 2)
    exchangeable = make_independent_factors(500, 6, 2).views
    for model, sizes in (
        (SphericalMixture(2).fit(views.views[2]), "2 components over 3 columns"),
        (HiddenMarkov(2).fit(chain.X, chain.lengths), "2 components over 6 columns"),
        (MultiViewMixture(2).fit(views.views), "2 components over 5 and 4 and 3 columns"),
        (IndependentFactors(2).fit(exchangeable), "2 components over 6 columns"),
    ):
        model.save(path)
        assert f"{type(model).__name__}: {sizes}" in polyad("info", path).out
        assert polyad("info", path, "--json").json()["n_components"] == 2
        refused = polyad("topics", path)
        assert refused.code == 1
        assert "which has no topics" in refused.err


def test_info(polyad, model):
    values = polyad("info", model, "--json").json()
    assert (values["class"], values["n_components"], values["n_words"], values["version"]) == ("LDA", 2, 38, 1)
    assert values["text_options"]["stop_words"]["source"] == "english"
    assert values["fingerprint"] in polyad("info", model).out


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_transform_writes_a_row_for_each_document(polyad, model, corpus, tmp_path, ending):
    out = tmp_path / f"t.{ending}"
    done = polyad("transform", model, corpus, "-o", out)
    assert (done.code, done.out) == (0, "")
    if ending == "csv":
        header, *rows = rows_of(out.read_text())
    elif ending == "jsonl":
        objects = [json.loads(line) for line in out.read_text().splitlines()]
        header, rows = list(objects[0]), [list(item.values()) for item in objects]
    else:
        parquet = pytest.importorskip("pyarrow.parquet")
        table = parquet.read_table(out)
        header, rows = table.column_names, [list(row.values()) for row in table.to_pylist()]
    assert header == ["id", "topic", "topic_words", "topic_0", "topic_1"]
    assert [row[0] for row in rows] == [f"w{n}" for n in range(1, 7)] + [f"t{n}" for n in range(1, 7)]
    values = np.array([[float(value) for value in row[3:]] for row in rows])
    np.testing.assert_allclose(values.sum(axis=1), 1)
    assert (values.argmax(axis=1) == [0] * 6 + [1] * 6).all()
    assert [int(row[1]) for row in rows] == values.argmax(axis=1).tolist()
    topics = polyad("topics", model, "-n", 3, "--json").json()["topics"]
    assert [row[2] for row in rows] == [", ".join(topics[int(row[1])]["words"]) for row in rows]


def test_transform_gives_the_same_in_any_blocks_and_from_standard_input(polyad, model, corpus, monkeypatch):
    whole = polyad("transform", model, corpus).out
    monkeypatch.setattr("polyad.cli.commands.transform.BLOCK_DOCUMENTS", 5)
    assert polyad("transform", model, corpus).out == whole
    with open(corpus, "rb") as file:
        assert polyad("transform", model, "-", stdin=file.read()).out == whole


def test_transform_json(polyad, model, corpus, tmp_path):
    values = polyad("transform", model, corpus, "--json").json()
    assert values["columns"] == ["id", "topic_0", "topic_1"]
    assert len(values["rows"]) == values["documents"] == 12
    summary = polyad("transform", model, corpus, "-o", tmp_path / "a.csv", "--json").json()
    assert summary["documents"] == 12
    assert (tmp_path / "a.csv").exists()


def test_a_document_without_known_words_still_has_a_row(polyad, model):
    done = polyad("transform", model, "-", "--format", "lines", stdin=b"zebra\n\nrain rain wind\n")
    rows = rows_of(done.out)
    assert len(rows) == 4
    assert rows[1][1:] == rows[2][1:]
    assert "of all words are not known" in done.err


def test_transform_of_nothing_is_a_table_of_nothing(polyad, model):
    assert (
        polyad("transform", model, "-", "--format", "lines", stdin=b"").out == "id,topic,topic_words,topic_0,topic_1\n"
    )


def test_evaluate(polyad, model, corpus):
    values = polyad("evaluate", model, corpus, "--json").json()
    assert values["bits"] < values["unigram_bits"]
    assert values["unknown_words"] == 0
    assert all(-1 <= topic["coherence"] <= 1 for topic in values["topics"])
    shown = polyad("evaluate", model, corpus)
    assert "better than without topics" in shown.out
    assert "these seem to be the documents that the model was fitted on" in shown.err


def test_evaluate_a_single_topic_model(polyad, corpus, tmp_path):
    polyad("fit", corpus, "-k", 2, "--model", "single-topic", "-o", tmp_path / "m", "-q")
    values = polyad("evaluate", tmp_path / "m", corpus, "--json").json()
    assert 0 < values["bits"] < values["unigram_bits"]


def test_select(polyad, corpus):
    values = polyad("select", corpus, "--min", 1, "--max", 3, "--json").json()
    assert values["recommended"] in {row["n_components"] for row in values["table"]}
    shown = polyad("select", corpus, "--min", 1, "--max", 3)
    assert shown.code == 0
    assert for_people(values["reason"])[:30] in " ".join(shown.err.split())
    assert shown.out.startswith("topics\tbits\tcoherence\tstability")


def test_align(polyad, model, corpus, tmp_path):
    polyad("fit", corpus, "-k", 2, "--min-df", 2, "-o", tmp_path / "m", "-q")
    values = polyad("align", model, tmp_path / "m", "--json").json()
    assert [pair["a"] for pair in values["pairs"]] == [0, 1]
    assert all(set(pair["a_words"]) & set(pair["b_words"]) for pair in values["pairs"])
    assert values["mean"] > 0.6
    assert values["shared_words"] < 38
    same = polyad("align", model, model)
    assert "1.00" in same.out


def test_align_needs_a_word_in_common(polyad, model, tmp_path):
    (tmp_path / "a.txt").write_text("uno dos dos cuatro\ndos tres tres\ntres uno cuatro\n" * 5)
    polyad("fit", tmp_path / "a.txt", "-k", 2, "--stop-words", "none", "-o", tmp_path / "m", "-q")
    done = polyad("align", model, tmp_path / "m")
    assert done.code == 1
    assert "no word in common" in done.err


def test_select_says_where_it_had_to_end(polyad, corpus):
    done = polyad("select", corpus, "--max", 1000)
    assert done.code == 0
    assert "too few or too alike to judge more than" in done.err.replace("\n", " ")
    assert "too alike" not in polyad("select", corpus, "--max", 3).err


@pytest.mark.parametrize("name", ["docword.a.txt", "a.ldac", "a.mtx", "a.npz"])
def test_convert(polyad, corpus, tmp_path, name):
    values = polyad("convert", corpus, tmp_path / name, "--json").json()
    assert values["corpus"]["documents"] == 12
    again = polyad("convert", tmp_path / name, tmp_path / "again.mtx", "--json").json()
    assert again["corpus"]["tokens"] == values["corpus"]["tokens"]
    assert again["corpus"]["words"] == values["corpus"]["words"]


def test_demo_on_a_small_library(polyad, tmp_path, monkeypatch):
    package = tmp_path / "site" / "lib"
    (package / "tests").mkdir(parents=True)
    topics = ("the rain and wind of the sea brought clouds", "the taxes and budget of the parliament were voted")
    for number in range(150):
        words = " ".join([topics[number % 2]] * 4)
        (package / f"m{number:03}.py").write_text(f'"""Module {number}.\n\n{words} {number}"""\nraise SystemExit\n')
    (package / "broken.py").write_text("def (:\n")
    (package / "latin.py").write_bytes(b'"""caf\xe9"""\n')
    (package / "nul.py").write_bytes(b'"""a\0b"""\n')
    (package / "tests" / "test_a.py").write_text(f'"""secret {topics[0] * 9}"""')
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path / "site"))
    values = polyad("demo", "-k", 2, "-o", tmp_path / "d.polyad", "--json").json()
    assert values["corpus"]["documents"] >= 100
    assert values["bits"] < values["unigram_bits"]
    assert {topic["example"]["id"].split("/")[0] for topic in values["topics"]} == {"lib"}
    assert load(tmp_path / "d.polyad").n_components == 2
    shown = polyad("demo", "-k", 2, "-o", tmp_path / "d.polyad")
    assert "better than without topics" in shown.err
    assert "e.g. lib/m" in shown.out


CALL_FAULTS = [
    (["fit"], "CORPUS"),
    (["fit", "CORPUS", "--nope"], "--nope"),
    (["fit", "CORPUS", "-k", "zero"], "--topics"),
    (["fit", "CORPUS", "-k", "0"], "--topics"),
    (["fit", "CORPUS", "--model", "gpt"], "lda, discrete-ica or single-topic"),
    (["fit", "CORPUS", "--method", "magic"], "jacobi"),
    (["fit", "CORPUS", "--polish", "-1"], "off, fast, full"),
    (["fit", "CORPUS", "--min-df", "few"], "a number of documents"),
    (["fit", "CORPUS", "--max-df", "1.5"], "a number of documents"),
    (["fit", "CORPUS", "--ngrams", "3-2"], "--ngrams"),
    (["fit", "CORPUS", "--format", "docx"], "is not a format"),
    (["fit", "CORPUS", "--encoding", "klingon"], "klingon"),
    (["fit", "CORPUS", "--stop-words", "klingon"], "neither a language"),
    (["fit", "CORPUS", "--stem", "klingon"], "no stemmer"),
    (["fit", "CORPUS", "--stem", "auto", "--stop-words", "none"], "--stem auto needs a language"),
    (["fit", "CORPUS", "--tokenizer", "magic"], "tokenizer"),
    (["topics", "MODEL", "--by", "size"], "relevance, probability or lift"),
    (["transform", "MODEL", "CORPUS", "-o", "table.xls"], ".parquet, .csv, .jsonl"),
    (["select", "CORPUS", "--min", "5", "--max", "2"], "--min is 5"),
    (["convert", "CORPUS", "counts.xyz"], "does not tell the format"),
    (["convert", "CORPUS", "counts.mtx", "--to", "csv"], "not as csv"),
    (["nonsense"], "nonsense"),
]


@pytest.mark.parametrize(("arguments", "message"), CALL_FAULTS)
def test_a_call_at_fault_is_one_sentence_and_two(polyad, corpus, model, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    done = polyad(*({"CORPUS": corpus, "MODEL": model}.get(argument, argument) for argument in arguments))
    assert done.code == 2, done.err
    assert done.out == ""
    *_, sentence = done.err.splitlines()
    assert sentence.startswith("polyad: ")
    assert message in sentence
    assert list(tmp_path.iterdir()) == []


DATA_FAULTS = [
    (["fit", "none.txt"], "there is no such file"),
    (["fit", "CORPUS", "-k", "50"], "ask for fewer"),
    (["fit", "CORPUS", "--text-column", "body"], "the columns are 'id', 'text'"),
    (["fit", "CORPUS", "--min-df", "100"], "not one word"),
    (["fit", "CORPUS", "-o", "no/such/folder/m.polyad"], "there is no folder"),
    (["fit", "CORPUS", "-o", "."], "is a folder"),
    (["topics", "none.polyad"], "none.polyad: no such file"),
    (["topics", "."], "is a directory"),
    (["topics", "CORPUS"], "is not a polyad model file"),
    (["transform", "CORPUS", "CORPUS"], "is not a polyad model file"),
    (["transform", "MODEL", "none.csv"], "there is no such file"),
    (["evaluate", "MODEL", "none.csv"], "there is no such file"),
    (["align", "MODEL", "CORPUS"], "is not a polyad model file"),
    (["select", "CORPUS", "--min", "40", "--max", "60"], "None of the numbers"),
    (["convert", "none.csv", "a.mtx"], "there is no such file"),
    (["fit", "CORPUS", "--max-document-bytes", "10"], "raise --max-document-bytes"),
]


@pytest.mark.parametrize(("arguments", "message"), DATA_FAULTS)
def test_data_at_fault_is_one_sentence_and_one(polyad, corpus, model, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    done = polyad(*({"CORPUS": corpus, "MODEL": model}.get(argument, argument) for argument in arguments))
    assert done.code == 1, done.err
    assert done.err.splitlines()[-1].startswith("polyad: ")
    assert message in done.err.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []


def test_bad_records_stop_or_are_counted(polyad, tmp_path):
    good = '{"text": "the rain and the wind of the sea"}\n{"text": "the taxes of the state and the budget"}\n'
    (tmp_path / "a.jsonl").write_text(good * 5 + "{oops\n" + good)
    done = polyad("fit", tmp_path / "a.jsonl", "-k", 2)
    assert done.code == 1
    assert "line 11" in done.err
    done = polyad("fit", tmp_path / "a.jsonl", "-k", 2, "--skip-bad", "--json")
    assert done.json()["corpus"]["bad_records"] == 1


def test_what_may_have_been_lost_is_told_with_its_place(polyad, model, tmp_path):
    good = "a\tthe rain and the wind of the sea\nb\tthe taxes of the state and the budget\n"
    (tmp_path / "a.tsv").write_text("id\ttext\n" + good * 5 + 'c\t"the rain\nd\tthe wind\ne\tthe sea"\n')
    for call in (["fit", tmp_path / "a.tsv", "-k", 2], ["transform", model, tmp_path / "a.tsv"]):
        done = polyad(*call)
        assert done.code == 0
        assert "a.tsv, line 12: the record goes on to line 14" in done.err
    (tmp_path / "mac.txt").write_bytes(b"the rain and the wind\rthe taxes\r")
    assert "line 1: 1 carriage return in the line, " in polyad("transform", model, tmp_path / "mac.txt").err


def test_a_failed_transform_leaves_no_table(polyad, model, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "rain"}\n{oops\n')
    for ending in ("csv", "jsonl", "parquet"):
        assert polyad("transform", model, tmp_path / "a.jsonl", "-o", tmp_path / f"t.{ending}").code == 1
    assert [file.name for file in tmp_path.iterdir()] == ["a.jsonl"]


def test_text_of_a_corpus_cannot_take_over_the_terminal(polyad, model, tmp_path, monkeypatch):
    evil = "\x1b]0;owned\x07\x1b[2Jx"
    (tmp_path / "a.csv").write_text(f'id,text\n"{evil}",rain wind\n"[bold]b[/bold]",taxes\n')
    raw = polyad("transform", model, tmp_path / "a.csv").out
    assert "\x1b" in raw  # into a pipe, ids go as they are
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    shown = polyad("transform", model, tmp_path / "a.csv").out
    assert "\x1b" not in shown
    assert "[bold]b[/bold]" in shown
    assert "\x1b" not in polyad("fit", f"/tmp/\x1b[31m{evil}").err


@pytest.mark.parametrize("text", ["\x1b[31m", "\x9b31m", "\u202eabc", "a\u2028b", "\x00", "\x7f", "\u2066", "\ud800"])
def test_clean_leaves_nothing_that_a_terminal_obeys(text):
    assert all(character.isprintable() for character in clean(text))


def test_joiners_inside_words_stay():
    assert clean("می\u200cخواهم") == "می\u200cخواهم"


def test_help_has_examples_everywhere(polyad):
    names = ["demo", "fit", "topics", "transform", "evaluate", "select", "align", "info", "convert"]
    top = polyad("--help").out
    for name in names:
        assert name in top
        done = polyad(name, "--help")
        assert done.code == 0
        assert f"polyad {name}" in done.out.split("For example:")[1]
    assert polyad().code == 0
    assert polyad("--version").out.startswith("polyad ")


def test_errors_of_polyad_itself_are_sentences_too(capsys, monkeypatch):
    assert explain(TypeError("odd")) == 1
    assert "an error of polyad itself (TypeError: odd)" in capsys.readouterr().err
    assert explain(MemoryError()) == 1
    assert "--min-df" in capsys.readouterr().err
    monkeypatch.setenv("POLYAD_DEBUG", "1")
    assert explain(ValueError("bad\ndata")) == 1
    told = capsys.readouterr().err
    assert told.startswith("ValueError: bad")
    assert told.endswith("polyad: bad data\n")
