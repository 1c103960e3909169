"""What a person reads: what it means and what to do, by the names of the command."""

import ast
import bz2
import json
import lzma
import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz

import polyad as polyad_package
from polyad.cli.terminal.summary import rate
from polyad.cli.terminal.wording import for_people
from polyad.corpus import CorpusError, DocumentReader, ReadOptions, read_corpus
from polyad.models.recipes.moment_start import MomentStart, NoiseWarning, _warn_of_noise
from polyad.models.recipes.own_prior import warn_of_total

# Words of linear algebra and of Python that say nothing to who only wants topics.
FOREIGN = re.compile(
    r"moment|eigenvalue|spectrum|likelihood|unigram|held-out|n_components|n_features|n_samples|X has|_df|_words|"
    r"prior|concentration|components|diagonaliser|max_iter|variance|\w=|diagnostics"
)
TEXTS = ["the rain and the wind of the sea", "the taxes and the budget of the state", "the rain fell on the sea wind"]


def test_more_topics_than_there_are_is_told_in_words(polyad, tmp_path):
    rng = np.random.default_rng(0)
    save_npz(tmp_path / "noise.npz", csr_array(rng.poisson(0.5, (60, 40))))
    for topics in (10, 30):
        done = polyad("fit", tmp_path / "noise.npz", "-k", topics)
        assert done.code == 0
        notes = [line for line in done.err.splitlines() if line.startswith("Note: ")]
        assert 1 <= len(notes) <= 2, "what to ask for, and which topics not to trust"
        assert "chance" in notes[0] or "tell" in notes[0]
        assert not FOREIGN.search(done.err)
        found = re.search(r"-k (\d+)", notes[0])
        assert found is None or 0 < int(found[1]) < topics
    start = MomentStart(np.ones((1, 3)) / 3, np.ones(1), np.ones(1), np.array([0.1]), 1.0, 0.2, 0.0)
    with pytest.warns(NoiseWarning) as caught:
        _warn_of_noise(start, 1)
    told = for_people(str(caught[0].message))
    assert "may be chance (signal 0.1, noise 0.2)" in told
    assert "fewer" not in told, "there are none fewer than one"
    assert not FOREIGN.search(told)


def gap(value):
    """What may stand where a sentence has a value in it."""
    code = ast.unparse(value)
    things = re.match(r"how_many\(.*, '([a-z ]+)'\)", code)
    return f"3 {things[1]}" if things else "were" if "'were'" in code else "3"


def literals(folder):
    """The sentences that `warn_caller` says in some modules, with a number in each gap."""
    for file in sorted((Path(polyad_package.__file__).parent / folder).glob("*.py")):
        for call in ast.walk(ast.parse(file.read_text())):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "warn_caller":
                parts = call.args[0].values if isinstance(call.args[0], ast.JoinedStr) else [call.args[0]]
                yield "".join(part.value if isinstance(part, ast.Constant) else gap(part.value) for part in parts)


def test_every_warning_of_a_fit_is_in_words_for_people():
    """Those that a fit of topics can give are said again by the command: a new one needs its words there, too."""
    of_signals = ("constant columns", "dependence of", 'noise="gaussian"')
    found = [
        sentence
        for folder in ("decompose", "decompose/similarity", "models", "models/recipes", "models/topics")
        for sentence in literals(folder)
        if not any(words in sentence for words in of_signals)
    ]
    assert len(found) >= 6
    reason = "its standard error is 30% or more, and it is 2 by triples of words, 3 by prediction, 4 by pairs"
    for sentence in found:
        told = for_people(sentence.replace("(3): 3.", f"(3): {reason}."))
        assert not FOREIGN.search(told), told
    with pytest.warns(NoiseWarning) as caught:
        warn_of_total(np.full(3, 0.2), 0.5, {"triples of words": 1.0, "pairs": 4.0})
    told = for_people(str(caught[0].message))
    assert re.fullmatch(r"These documents hardly tell .* \(error \d+% or more\)\. Give more documents.*", told)


def test_one_topic_is_not_told_to_be_fewer(polyad, tmp_path):
    (tmp_path / "a.txt").write_text("rain wind\nrain wind sea\nrain and\n")
    done = polyad("fit", tmp_path / "a.txt", "-k", 1, "--stop-words", "none")
    assert done.code == 0
    assert "the topic could be another" in done.err
    assert "fewer topics" not in done.err


def test_errors_name_options(polyad, corpus, tmp_path):
    (tmp_path / "short.txt").write_text("rain wind\nsea sun\n" * 5)
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9 noir\n")
    (tmp_path / "two.txt").write_text("the rain\nthe sea\n")
    (tmp_path / "body.csv").write_text("id,body\n1,rain\n")
    calls = [
        (["fit", corpus, "-k", 13], "-k is 13, but there are only 12 documents"),
        (["fit", tmp_path / "short.txt", "-k", 2], "words that come together"),
        (["fit", tmp_path / "latin.txt"], "--errors replace"),
        (["fit", tmp_path / "two.txt"], "There are 2 documents"),
        (["fit", tmp_path / "body.csv"], "--text-column"),
        (["fit", corpus, "--min-df", 100], "lower --min-df or raise --max-df"),
    ]
    for call, message in calls:
        done = polyad(*call)
        assert done.code == 1
        sentence = done.err.splitlines()[-1]
        assert message in sentence
        assert not FOREIGN.search(sentence)


def test_three_texts_at_the_default_are_enough(polyad, tmp_path):
    (tmp_path / "a.txt").write_text("\n".join(TEXTS) + "\n")
    done = polyad("fit", tmp_path / "a.txt", "--json")
    assert done.code == 0
    assert done.json()["n_components"] == 2
    assert "too few for 20 topics; 2 are learned" in done.err


def test_a_topic_for_each_document_deserves_a_note(polyad, corpus):
    assert "12 topics of 12 documents" in " ".join(polyad("fit", corpus, "-k", 12).err.split())
    assert "hardly a subject" not in polyad("fit", corpus, "-k", 3).err
    told = polyad("fit", corpus, "-k", 12).err
    assert "certainty 0.00)" in told, "one number, and not from 0.00 to 0.00"
    assert told.count("Ask for") == 1, "one number to ask for, and not another one in the next sentence"


def test_one_thing_is_not_called_many(polyad, corpus, tmp_path):
    (tmp_path / "one.txt").write_text("the rain and the wind of the sea\n")
    told = polyad("fit", tmp_path / "one.txt", "-k", 1).err
    assert "There is 1 document, and" in told
    assert "hardly a subject" not in told, "there is nothing to ask fewer of"
    assert "Dropped: 1 short word, 2 in all (a)" in polyad("fit", corpus, "-k", 2).err
    assert "learned. -k" not in polyad("fit", tmp_path / "one.txt").err, "nothing is"
    (tmp_path / "a.jsonl").write_text('{"text": "rain"}\n{"text": 3}\n')
    told = polyad("fit", tmp_path / "a.jsonl", "--skip-bad").err
    assert "1 (1 bad record skipped, " in told
    (tmp_path / "a.ldac").write_text("1 2147483646:1\n")
    assert "words for 1 entry, " in polyad("fit", tmp_path / "a.ldac").err
    assert rate(2.0, 2) == "2.0 s, 1 document per second"


def test_quiet_without_a_file_is_told_before_the_work(polyad, corpus, tmp_path):
    for command in (["fit", corpus], ["fit2", corpus, corpus]):
        done = polyad(*command, "-q")
        assert done.code == 2
        assert "nothing would be left" in done.err
    assert polyad("fit", corpus, "-k", 2, "-q", "--json").code == 0


def test_a_table_for_a_person_has_four_digits(polyad, model, corpus, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    header, *rows = polyad("transform", model, corpus).out.splitlines()
    assert header.split() == ["id", "topic", "share", "words"]
    assert len(rows) == 12
    assert max(map(len, rows)) <= 60
    assert {row.split()[1] for row in rows} == {"0", "1"}
    assert all(re.fullmatch(r"[01]\.\d{4}", row.split()[2]) for row in rows)
    monkeypatch.setenv("COLUMNS", "120")
    header, *rows = polyad("transform", model, corpus).out.splitlines()
    assert header.split() == ["id", "topic", "share", "words", "topic_0", "topic_1"]
    assert all(len(cell) <= 9 for row in rows for cell in row.split()[-2:])
    monkeypatch.setenv("COLUMNS", "40")
    header, *rows = polyad("transform", model, corpus).out.splitlines()
    assert max(map(len, rows)) <= 40


def test_words_that_a_model_does_not_know_are_told(polyad, model, tmp_path):
    (tmp_path / "a.txt").write_text("zebra giraffe lion rain elephant zebra gnu hippo rhino wind\n" * 4)
    for command in ("transform", "evaluate"):
        done = polyad(command, model, tmp_path / "a.txt")
        assert done.code == 0
        assert "the model knows only 20.0% of the words" in done.err


def test_evaluate_says_whom_it_flatters(polyad, model, corpus, tmp_path):
    assert "these seem to be the documents that the model was fitted on" in polyad("evaluate", model, corpus).err
    (tmp_path / "a.txt").write_text("rain wind sea clouds\ntaxes budget parliament\n" * 4)
    done = polyad("evaluate", model, tmp_path / "a.txt")
    assert "fair only of documents that the model was not fitted on" in done.err
    assert not FOREIGN.search(done.out + done.err)


def test_lines_are_documents_and_ids_have_columns(polyad, model, tmp_path):
    (tmp_path / "a.txt").write_text("\n".join(TEXTS * 4) + "\n")
    assert "each line is one" in polyad("fit", tmp_path / "a.txt", "-k", 2).err
    (tmp_path / "a.csv").write_text("name,text\nx,rain\ny,wind\n")
    assert "--id-column names a column of ids" in polyad("transform", model, tmp_path / "a.csv").err
    assert "--id-column" not in polyad("transform", model, tmp_path / "a.csv", "--id-column", "name").err
    assert "--id-column" not in polyad("transform", model, tmp_path / "a.txt").err


def test_a_first_record_without_an_id_leaves_the_others_theirs(tmp_path):
    records = [{"text": "rain"}, {"id": "b", "text": "wind"}, {"id": 7, "text": "sea"}, {"id": None, "text": "sun"}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    assert [document.id for document in DocumentReader(tmp_path / "a.jsonl")] == ["0", "b", "7", "3"]
    named = DocumentReader(tmp_path / "a.jsonl", ReadOptions(id_column="name"))
    with pytest.raises(CorpusError, match="no object has a field 'name' of ids"):
        list(named)


def test_limits_are_raised_by_the_options_that_the_sentences_name(polyad, tmp_path):
    (tmp_path / "a.ldac").write_text("1 1500:1\n")
    refused = polyad("convert", tmp_path / "a.ldac", tmp_path / "a.mtx", "--max-announced", 1000)
    assert (refused.code, "raise --max-announced" in refused.err) == (1, True)
    assert polyad("convert", tmp_path / "a.ldac", tmp_path / "a.mtx", "--max-announced", 2000).code == 0
    (tmp_path / "a.txt").write_text("rain wind sea " * 100 + "\nrain sea\n")
    refused = polyad("convert", tmp_path / "a.txt", tmp_path / "b.mtx", "--max-document-bytes", 1000)
    assert (refused.code, "raise --max-document-bytes" in refused.err) == (1, True)
    assert polyad("convert", tmp_path / "a.txt", tmp_path / "b.mtx", "--max-document-bytes", 2000).code == 0


@pytest.mark.parametrize(("ending", "pack"), [("bz2", bz2.compress), ("xz", lzma.compress)])
def test_other_compressions(tmp_path, ending, pack):
    text = ("\n".join(TEXTS) + "\n").encode()
    file = tmp_path / f"a.txt.{ending}"
    file.write_bytes(pack(text[:40]) + pack(text[40:]))
    assert [document.text for document in DocumentReader(file)] == TEXTS
    file.write_bytes(pack(text)[:-5])
    with pytest.raises(CorpusError, match="damaged or cut short"):
        list(DocumentReader(file))
    file.write_bytes(pack(b"rain " * 20_000))
    with pytest.raises(CorpusError, match="if you trust the file"):
        list(DocumentReader(file, ReadOptions(max_document_bytes=2**18)))


def test_what_is_no_text_is_named_in_a_folder(tmp_path):
    (tmp_path / "a.txt").write_text("rain")
    for name, data, what in (("b.pdf", b"%PDF-1.7 x", "a PDF"), ("c.docx", b"PK\x03\x04 x", "DOCX")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(CorpusError, match=rf"{name}: this is .*{what}"):
            list(DocumentReader(tmp_path))
        (tmp_path / name).unlink()


def test_tags_are_no_words(tmp_path):
    page = "<!DOCTYPE html><html><script>var x = '<p>';</script><body><p>Caf&eacute; <b>no</b>ir</p><!-- no -->wind"
    (tmp_path / "a.html").write_text(page)
    assert read_corpus(tmp_path).vocabulary == ("café", "noir", "wind")
    with pytest.warns(UserWarning, match=r"a\.html, line 1: this is HTML"):
        read_corpus(tmp_path / "a.html")


@pytest.mark.parametrize("page", ["<" * 500_000, "<!--" * 200_000, "<script" * 100_000, "<p" * 300_000, "&" * 500_000])
def test_a_page_that_never_ends_takes_no_time(tmp_path, page):
    (tmp_path / "a.html").write_text(f"<html>{page}")
    assert len(list(DocumentReader(tmp_path))) == 1


def test_help_speaks_of_no_types(polyad):
    for name in ("fit", "fit2", "transform", "evaluate", "convert", "demo"):
        shown = polyad(name, "--help").out
        assert not re.search(r"<\w+>|\{|x>=", shown)
        assert not re.search(r"likelihood|unigram", shown)


def test_info_and_topics_load_nothing_heavy(model):
    code = (
        "import sys; from polyad.cli.app import run; "
        "codes = [run([name, sys.argv[1]]) for name in ('info', 'topics')]; "
        "sys.exit(any(codes) or any(name in sys.modules for name in ('sklearn', 'numba', 'scipy', 'pandas')))"
    )
    assert subprocess.run([sys.executable, "-c", code, model], capture_output=True, timeout=60).returncode == 0


def test_errors_are_broken_between_words_on_a_terminal(polyad, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "40")
    told = polyad("fit", "no-such-file.txt", "-q", "-o", "m").err
    assert max(map(len, told.splitlines())) <= 40
    monkeypatch.setattr("sys.stderr.isatty", lambda: False, raising=False)
    assert " ".join(told.split()) == polyad("fit", "no-such-file.txt", "-q", "-o", "m").err.strip()


def test_what_was_dropped_and_how_to_keep_it(polyad, tmp_path):
    english = ["the rain and the wind of the sea", "we raise the taxes of the state", "the world of goods is for you"]
    french = [
        "la pluie et le vent de la mer",
        "nous votons les impôts de la nation",
        "les rois ne sont pas dans le port",
    ]
    file = tmp_path / "en.txt"
    file.write_text("\n".join(english * 8))
    told = " ".join(polyad("fit", file, "-k", 2).err.split())
    assert "Language: english, found in the text; --stop-words names another" in told
    assert "stop words" in told
    assert "(the, of" in told
    assert "--stop-words none keeps them" in told
    file.write_text("\n".join((english + french) * 8), encoding="utf-8")
    told = polyad("fit", file, "-k", 2)
    assert "Language: english in 24 documents, french in 24 documents" in " ".join(told.err.split())
    assert "in several languages" in told.err
    assert polyad("fit", file, "-k", 2, "--json").json()["corpus"]["languages"] == {"english": 24, "french": 24}
    file.write_text("\n".join(["kutu fola mina", "fola mina zura", "zura kutu gola"] * 8))
    assert "--background" in polyad("fit", file, "-k", 2).err


def test_a_background_is_shown_as_such(polyad, tmp_path):
    rng = random.Random(0)
    subjects = [["rain", "wind", "sea", "wave", "storm"], ["tax", "budget", "state", "vote", "law"]]
    shared = ["the", "of", "and", "to", "in", "that", "is", "it", "for", "we", "our"]
    file, model = tmp_path / "a.txt", tmp_path / "m.polyad"
    file.write_text(
        "\n".join(
            " ".join(rng.choices(shared, k=30) + rng.choices(subjects[number % 2], k=12)) for number in range(120)
        )
    )
    done = polyad("fit", file, "-k", 2, "--background", "-o", model)
    assert done.code == 0, done.err
    last = done.out.splitlines()[-1]
    assert last.startswith("background\t")
    assert "the" in last
    assert not any(word in line for line in done.out.splitlines()[1:3] for word in (" the,", " of,", " and,"))
    assert "stop words" not in done.err
    assert polyad("topics", model).out.splitlines()[-1].startswith("background\t")
    table = polyad("transform", model, file).out.splitlines()
    assert table[0] == "id,topic,topic_words,topic_0,topic_1,background"
    assert {row.split(",")[1] for row in table[1:]} == {"0", "1"}  # a background is never the likeliest
    assert "2 topics and a background" in polyad("info", model).out
    values = polyad("evaluate", model, file, "--json").json()
    assert [topic["background"] for topic in values["topics"]] == [False, False, True]
    refused = polyad("fit", file, "--background", "--model", "single-topic")
    assert (refused.code, "--background is for --model lda" in refused.err) == (2, True)


def test_topics_come_with_examples(polyad, model, corpus, tmp_path, monkeypatch):
    rows = [line.split("\t") for line in polyad("topics", model, corpus).out.splitlines()]
    assert rows[0][2] == "words, and the document that has most of it"
    assert len(rows) == 5
    assert all(row[0] == "" and row[2].startswith(f"e.g. {kind}") for row, kind in zip(rows[2::2], "wt"))
    values = polyad("fit", corpus, "-k", 2, "--json").json()["topics"]
    assert sorted(topic["example"]["id"][0] for topic in values) == ["t", "w"]
    assert all(topic["example"]["text"] is None and topic["example"]["share"] > 0.8 for topic in values)
    shown = polyad("topics", model, corpus, "--json").json()["topics"]
    assert all(len(topic["example"]["text"]) > 20 for topic in shown)
    with open(corpus, "rb") as file:  # standard input cannot be read again
        piped = polyad("topics", model, "-", "--json", stdin=file.read()).json()["topics"]
    assert [topic["example"] for topic in piped] == [{**topic["example"], "text": None} for topic in shown]
    assert "e.g." not in polyad("fit", corpus, "-k", 2).out  # one line for each topic in a pipe
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert "e.g." in polyad("fit", corpus, "-k", 2).out
    assert 0 < polyad("fit", corpus, "-k", 12).out.count("e.g.") < 12, "what has 0.01% of a topic is no example of it"


def test_the_help_points_to_the_glossary(polyad):
    assert "docs/glossary.md" in polyad("--help").out
    page = Path(__file__).parents[2] / "docs" / "glossary.md"
    if page.exists():
        words = [line.split("|")[1].strip() for line in page.read_text().splitlines() if line.startswith("| ")]
        assert words[0] == "word"
        assert words[1:] == sorted(words[1:])
        assert {"topic", "share", "background", "certainty", "bits per word", "coherence", "signal, noise"} <= set(
            words
        )


def on_a_terminal(monkeypatch, columns):
    """Let the command see a terminal that draws no colours."""
    for name, value in {"TERM": "dumb", "LINES": "100", "COLUMNS": str(columns)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)


def test_numbers_are_never_cut(polyad, corpus, monkeypatch):
    """What has no room in a narrow terminal is left out as a column, and not of every number."""
    on_a_terminal(monkeypatch, 40)
    narrow = polyad("select", corpus, "--min", 1, "--max", 2).out
    assert "…" not in narrow
    assert narrow.splitlines()[0].split() == ["topics", "bits", "coherence"]
    assert re.search(r"^ +1 +\d\.\d{3} +-?\d\.\d{3}", narrow, re.MULTILINE)
    on_a_terminal(monkeypatch, 80)
    wide = polyad("select", corpus, "--min", 1, "--max", 2).out
    assert wide.splitlines()[0].split() == ["topics", "bits", "coherence", "stability", "seconds"]


@pytest.mark.parametrize("command", [[], ["fit"], ["transform"], ["convert"]])
def test_help_in_40_columns_cuts_nothing(polyad, monkeypatch, command):
    on_a_terminal(monkeypatch, 120)
    wide = polyad(*command, "--help").out
    on_a_terminal(monkeypatch, 40)
    narrow = polyad(*command, "--help").out
    assert max(map(len, narrow.splitlines())) <= 40
    assert "…" not in narrow
    assert not re.search(r"[a-z]\.\.\.", narrow), "what a command does is told to its end"
    for option in set(re.findall(r"--[a-z-]+", wide)):
        assert option in narrow
    examples = [line.strip(" │") for line in wide.splitlines() if line.strip(" │").startswith("polyad ")]
    assert len(examples) > 1
    for example in examples:
        assert example in " ".join(narrow.split())


def test_sentences_about_the_best_number(polyad, corpus):
    told = " ".join(polyad("select", corpus, "--min", 1, "--max", 3).err.split())
    assert "fewest of all" in told
    assert "0.000 more" not in told
    worse = "2 topics: the spectrum falls sharply after them (and held-out bits are 3.968, 0.012 above the best, at 5)."
    assert "3.968 bits each, 0.012 more than the best, at 5)" in for_people(worse)
