import json
import re

import pytest

from polyad import load
from polyad.cli.app import run
from polyad.corpus import IndexedCorpus

TOPICS = ("cat dog vet paw fur tail purr bark", "stock bond market price trade bank rate fund")


@pytest.fixture
def folder(tmp_path):
    lines = [
        json.dumps({"id": f"d{n}", "text": f"the {TOPICS[n % 2]} of {TOPICS[n % 2][n % 30 :]}"}) for n in range(80)
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(lines[:40]))
    (tmp_path / "b.jsonl").write_text("\n".join(lines[40:]))
    return tmp_path


def values(capsys, *arguments):
    code = run([*map(str, arguments), "--json"])
    out = capsys.readouterr()
    assert code == 0, out.err
    return json.loads(out.out)


def test_from_files_to_topics_of_documents(folder, capsys):
    shards, model = folder / "c.shards", folder / "m.polyad"
    found = values(capsys, "index", folder / "a.jsonl", folder / "b.jsonl", "-o", shards, "--stop-words", "english")
    assert found["corpus"]["documents"] == 80
    assert set(found["corpus"]["dropped"]["stop words"]["examples"]) >= {"the", "of"}
    told = values(capsys, "info", shards)
    assert told["folder"] == str(shards)
    assert (told["order"], told["shards"], told["corpus"]) == ("content", 1, found["corpus"])
    fitted = values(capsys, "fit", shards, "-k", 2, "-o", model)
    assert all(any(set(topic["words"][:3]) <= set(words.split()) for words in TOPICS) for topic in fitted["topics"])
    table = folder / "t.jsonl"
    values(capsys, "transform", model, shards, "-o", table)
    rows = {row["id"]: row["topic_0"] for row in map(json.loads, table.read_text().splitlines())}
    assert set(rows) == {f"d{n}" for n in range(80)}
    assert (rows["d0"] > 0.5) == (rows["d2"] > 0.5) != (rows["d1"] > 0.5)
    assert values(capsys, "evaluate", model, shards)["bits"] < values(capsys, "evaluate", model, shards)["unigram_bits"]
    assert values(capsys, "select", shards, "--max", 3)["recommended"] == 2


def test_shards_have_names_of_documents_and_no_texts(folder, capsys):
    shards, model, page = folder / "c.shards", folder / "m.polyad", folder / "p.html"
    values(capsys, "index", folder / "a.jsonl", "-o", shards)
    found = values(capsys, "fit", shards, "-k", 2, "-o", model, "--report", page)["topics"]
    for topic in found:
        assert topic["example"]["text"] is None
        assert topic["example"]["share"] > 0.5
        own = TOPICS[int(topic["example"]["id"][1:]) % 2].split()
        assert set(topic["words"][:3]) <= set(own)
        assert topic["example"]["id"] in page.read_text()
    assert values(capsys, "topics", model, shards)["topics"] == found
    values(capsys, "report", model, shards, "-o", folder / "q.html")
    assert found[0]["example"]["id"] in (folder / "q.html").read_text()
    for command in (["fit", str(shards), "--report", str(page)], ["report", str(model), str(shards)]):
        assert run([*command, "--date-column", "year"]) == 2
        assert "only counts" in capsys.readouterr().err.replace("\n", " ")
    assert run(["fit", str(shards), "-k", "2"]) == 0
    told = capsys.readouterr().err
    assert "stop words, " in told
    assert "--stop-words" not in told


def test_the_same_model_as_without_shards(folder, capsys):
    (folder / "all").mkdir()
    whole = (folder / "a.jsonl").read_text() + "\n" + (folder / "b.jsonl").read_text()
    (folder / "all" / "all.jsonl").write_text(whole)
    values(capsys, "index", folder / "all", "-o", folder / "c.shards")
    values(capsys, "fit", folder / "c.shards", "-k", 2, "-o", folder / "one.polyad")
    values(capsys, "fit", folder / "all" / "all.jsonl", "-k", 2, "-o", folder / "two.polyad")
    one, two = (values(capsys, "info", folder / f"{name}.polyad") for name in ("one", "two"))
    assert one["fingerprint"] == two["fingerprint"]


def test_sentences(folder, capsys):
    shards = folder / "c.shards"
    assert run(["index", str(folder / "*.jsonl"), "-o", str(shards), "-q"]) == 0
    for arguments, code, sentence in (
        (["index", str(folder / "a.jsonl"), "-o", str(shards)], 2, "is there already; give another name, or --force"),
        (["fit", str(shards), "--min-df", "3"], 2, "the words of"),
        (["index", str(folder / "nothing.jsonl"), "-o", str(folder / "x")], 1, "there is no such file"),
        (["index", str(folder / "a.jsonl"), "-o", str(folder / "no" / "x")], 1, "there is no folder"),
    ):
        assert run(arguments) == code
        assert sentence in capsys.readouterr().err.replace("\n", " ")
    file = shards / "shard-00000-view-0-data.npy"
    raw = bytearray(file.read_bytes())
    raw[-1] ^= 1
    file.write_bytes(raw)
    assert run(["info", str(shards)]) == 1
    assert "shard-00000-view-0-data.npy is damaged" in capsys.readouterr().err


def test_what_a_fit_will_need_is_told_before_the_work(folder, capsys, monkeypatch):
    shards, texts = str(folder / "c.shards"), str(folder / "a.jsonl")
    values(capsys, "index", folder / "a.jsonl", folder / "b.jsonl", "-o", shards)
    with monkeypatch.context() as patch:
        patch.setattr("polyad.models.topics.lda.raw_moments", interrupted)
        assert run(["fit", shards, "-k", "2"]) == 130
    told = capsys.readouterr().err
    assert re.search(r"Plan: \d+ [kM]B of memory, at most about 1 second\n", told)
    assert "Fitting" not in told
    assert run(["fit", texts, "-k", "2", "--memory", "1kB"]) == 1
    told = capsys.readouterr().err
    assert 0 < told.index("Plan: ") < told.index("may have 1 kB")
    for quiet in (["fit", texts, "-k", "2"], ["fit", shards, "-k", "2", "--json"]):
        assert run(quiet) == 0
        assert "Plan" not in capsys.readouterr().err
    with monkeypatch.context() as patch:
        patch.setattr("polyad.cli.commands.fit.LONG_SECONDS", 0.0)
        assert run(["fit", texts, "-k", "2"]) == 0
    assert "Plan: " in capsys.readouterr().err


def interrupted(*given, **options):
    raise KeyboardInterrupt


def test_a_fit_goes_on_from_its_checkpoint(folder, capsys, monkeypatch):
    shards, run_folder = folder / "c.shards", folder / "run"
    values(capsys, "index", folder / "a.jsonl", folder / "b.jsonl", "-o", shards)
    values(capsys, "fit", shards, "-k", 2, "-o", folder / "whole.polyad")
    fit = ["fit", str(shards), "-k", "2", "-o", str(folder / "m.polyad"), "--checkpoint", str(run_folder)]
    with monkeypatch.context() as patch:
        patch.setattr("polyad.models.topics.lda.polish_topics", interrupted)
        assert run(fit) == 130
    assert list(run_folder.glob("pass-*.npz"))
    assert not (folder / "m.polyad").exists()
    assert run(fit) == 2
    assert "--resume goes on from it" in capsys.readouterr().err
    assert run([*fit[:3], "3", *fit[4:], "--resume"]) == 1
    assert "other options" in capsys.readouterr().err
    assert run([*fit, "--resume"]) == 0
    assert "Passes done before" in capsys.readouterr().err
    assert not run_folder.exists()
    one, two = (values(capsys, "info", folder / f"{name}.polyad") for name in ("whole", "m"))
    assert one["fingerprint"] == two["fingerprint"]


def test_calls_that_make_no_sense(folder, capsys):
    shards = folder / "c.shards"
    values(capsys, "index", folder / "a.jsonl", "-o", shards)
    for options, sentence in (
        (["--resume"], "name it with --checkpoint"),
        (["--scheduler", "tcp://a:1", "--workers", "2"], "give one of them"),
        (["--checkpoint", str(folder / "r"), "--workers", "2"], "--checkpoint is for one machine"),
    ):
        assert run(["fit", str(shards), "-k", "2", *options]) == 2
        assert sentence in capsys.readouterr().err
    assert run(["fit", str(folder / "a.jsonl"), "-k", "2", "--workers", "2"]) == 2
    assert "polyad index" in capsys.readouterr().err
    assert run(["fit", str(shards), "-k", "2", "--memory", "1kB"]) == 1
    assert "This fit needs about" in capsys.readouterr().err
    assert run(["fit", str(shards), "-k", "2", "--memory", "much"]) == 2
    assert "--memory is 'much'; give a size such as" in capsys.readouterr().err


def test_a_model_learns_from_new_documents(folder, capsys):
    model, newer = folder / "m.polyad", folder / "n.polyad"
    values(capsys, "fit", folder / "a.jsonl", "-k", 2, "-o", model)
    before = values(capsys, "info", model)
    with (folder / "b.jsonl").open("a") as out:
        out.write("\n" + "\n".join(json.dumps({"text": f"{TOPICS[0]} hamster hamster"}) for _ in range(5)))
    found = values(capsys, "update", model, folder / "b.jsonl", "-o", newer)
    assert (found["corpus"]["documents"], found["new_words"]) == (45, 0)
    assert 0 < found["unknown_words"] < 0.1
    after = values(capsys, "info", newer)
    assert after["diagnostics"]["n_documents"] == 85
    assert after["fingerprint"] != before["fingerprint"] == values(capsys, "info", model)["fingerprint"]
    found = values(capsys, "update", model, folder / "b.jsonl", "-o", newer, "--grow", "--forget", 0.5)
    assert found["new_words"] >= 1
    learned = load(newer)
    where = [learned.components_[:, learned.vocabulary_.index(word)].argmax() for word in ("hamster", "dog", "bank")]
    assert where[0] == where[1] != where[2]
    values(capsys, "fit", folder / "a.jsonl", "-k", 2, "-o", folder / "d.polyad", "--model", "discrete-ica")
    assert run(["update", str(folder / "d.polyad"), str(folder / "b.jsonl"), "-o", str(newer)]) == 1
    assert "only models of the kind lda" in capsys.readouterr().err


def test_hashed_words_need_no_vocabulary(folder, capsys):
    shards, model = folder / "c.shards", folder / "m.polyad"
    assert run(["index", str(folder / "a.jsonl"), "-o", str(shards), "--hashed", "500"]) == 0
    assert "Words are hashed to 500 columns" in capsys.readouterr().err
    assert values(capsys, "info", shards)["corpus"]["words"] == 500
    fitted = values(capsys, "fit", shards, "-k", 2, "-o", model)
    assert all(word.startswith("#") for topic in fitted["topics"] for word in topic["words"])
    (folder / "new.jsonl").write_text("\n".join(json.dumps({"text": "hamster cat dog vet"}) for _ in range(5)))
    found = values(capsys, "update", model, folder / "new.jsonl", "-o", folder / "n.polyad")
    assert found["unknown_words"] == 0
    assert run(["index", str(folder / "a.jsonl"), "-o", "x", "--hashed", "9", "--only-words", str(folder / "w")]) == 2
    assert "--hashed does without" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Dask leaves sockets open
def test_text_is_counted_by_workers(folder, capsys):
    pytest.importorskip("distributed")
    files = folder / "a.jsonl", folder / "b.jsonl"
    values(capsys, "index", *files, "-o", folder / "one.shards")
    values(capsys, "index", *files, "-o", folder / "two.shards", "--workers", 2)
    one, two = (
        {file.name: file.read_bytes() for file in (folder / name).iterdir()} for name in ("one.shards", "two.shards")
    )
    assert one == two
    assert run(["index", str(files[0]), "-o", "x", "--workers", "2", "--scheduler", "tcp://a:1"]) == 2
    assert "give one of them" in capsys.readouterr().err


def test_shards_are_written_as_counts_and_not_indexed_again(folder, capsys):
    shards = folder / "c.shards"
    found = values(capsys, "index", folder / "a.jsonl", "-o", shards)["corpus"]
    converted = values(capsys, "convert", shards, folder / "c.npz")
    assert (converted["corpus"]["documents"], converted["corpus"]["tokens"]) == (40, found["tokens"])
    assert (folder / "c.ids.txt").read_text().split() == list(IndexedCorpus(shards).ids)
    again = values(capsys, "index", folder / "c.npz", "-o", folder / "again.shards")["corpus"]
    assert (again["documents"], again["tokens"]) == (40, found["tokens"])
    assert run(["index", str(shards), "-o", str(folder / "twice.shards")]) == 1
    assert "is a folder of shards already" in capsys.readouterr().err.replace("\n", " ")


def test_the_model_that_is_updated_is_not_written_over(folder, capsys):
    model = folder / "m.polyad"
    values(capsys, "fit", folder / "a.jsonl", "-k", 2, "-o", model)
    before = model.read_bytes()
    assert run(["update", str(model), str(folder / "b.jsonl"), "-o", str(model)]) == 2
    assert "is read by this very command" in capsys.readouterr().err.replace("\n", " ")
    assert model.read_bytes() == before
