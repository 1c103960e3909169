"""JSONL."""

import json

import pytest

from polyad.corpus import CorpusError, Document, DocumentReader, ReadOptions


def read(folder, text, **options):
    file = folder / "a.jsonl"
    file.write_text(text, encoding="utf-8")
    reader = DocumentReader(file, ReadOptions(**options))
    return list(reader), reader.report


def test_text_and_id_of_each_object(tmp_path):
    lines = '{"ID": 7, "Text": "to be"}\n\n{"ID": null, "Text": null, "more": [1]}\n{"Text": "x"}'
    documents, report = read(tmp_path, lines)
    assert documents == [Document("7", "to be"), Document("1", ""), Document("2", "x")]
    assert (report.blank_lines, report.empty) == (1, 1)


def test_fields_can_be_named_and_missing_ones_are_listed(tmp_path):
    line = json.dumps({"key": "k", "body": "b"})
    assert read(tmp_path, line, text_column="body", id_column="key")[0] == [Document("k", "b")]
    with pytest.raises(CorpusError, match=r"the columns are 'key', 'body'"):
        read(tmp_path, line)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ('{"text": "x"', "not valid JSON"),
        ('"just text"', "not a JSON object"),
        ("[" * 100_000, "JSON"),
        ('{"text": 3}', "not text but a number"),
        ('{"text": ["a"]}', "not text but a list"),
        ('{"text": {"a": 1}}', "not text but an object"),
        ('{"text": true}', "not text but a truth value"),
        ('{"words": "x"}', "no field 'text'"),
        ('{"text": "x", "id": [1]}', "not an id but a list"),
        ('{"text": "x", "n": ' + "9" * 5000 + "}", "JSON"),
    ],
)
def test_bad_lines_name_themselves_or_are_skipped(bad, said, tmp_path):
    text = f'{{"id": "a", "text": "fine"}}\n{bad}\n{{"id": "b", "text": "fine"}}\n'
    with pytest.raises(CorpusError, match=said) as caught:
        read(tmp_path, text)
    assert caught.value.line == 2
    documents, report = read(tmp_path, text, skip_bad=True)
    assert [document.id for document in documents] == ["a", "b"]
    assert report.bad == 1


def test_half_a_surrogate_becomes_a_character_that_can_be_written(tmp_path):
    documents, _ = read(tmp_path, '{"id": "\\udc80", "text": "a\\ud800b"}')
    assert documents[0].text == "a?b"
    assert documents[0].id == "\\udc80"
