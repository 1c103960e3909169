"""CSV and TSV."""

import csv
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyad.corpus import CorpusError, Document, DocumentReader, ReadOptions, read_blocks, read_corpus


def read(folder, text, name="a.csv", **options):
    file = folder / name
    file.write_text(text, encoding="utf-8", newline="")
    reader = DocumentReader(file, ReadOptions(**options))
    return list(reader), reader.report


def test_text_and_id_are_found_in_any_case(tmp_path):
    documents, _ = read(tmp_path, "Title, ID ,TEXT\nt,x,to be\nu,,or not\n")
    assert documents == [Document("x", "to be"), Document("1", "or not")]


def test_columns_can_be_named(tmp_path):
    documents, _ = read(tmp_path, "a,b,text\n1,2,3\n", text_column="B", id_column="a")
    assert documents == [Document("1", "2")]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_header_tells_the_delimiter(delimiter, tmp_path):
    documents, _ = read(tmp_path, f"id{delimiter}text\nx{delimiter}to be, or; not\n".replace(", or; ", " or "))
    assert documents == [Document("x", "to be or not")]


def test_tabs_only_for_tsv(tmp_path):
    assert read(tmp_path, "id\ttext,more\nx\ta,b\n", "a.tsv", text_column="text,more")[0] == [Document("x", "a,b")]


def test_missing_columns_are_listed(tmp_path):
    with pytest.raises(CorpusError, match=r"a\.csv: no column is named 'text'; the columns are 'title', 'body'"):
        read(tmp_path, "title,body\na,b\n")
    with pytest.raises(CorpusError, match="'words'"):
        read(tmp_path, "id,text\na,b\n", text_column="words", skip_bad=True)
    with pytest.raises(CorpusError, match="id column"):
        read(tmp_path, "id,text\na,b\n", id_column="key")
    with pytest.raises(CorpusError, match="'text'"):
        read(tmp_path, "Text,TEXT\na,b\n")


def test_quotes_line_breaks_and_blank_lines(tmp_path):
    text = 'id,text\r\nx,"two\nlines, ""quoted"""\r\n\r\ny,""\r\n'
    documents, report = read(tmp_path, text)
    assert documents == [Document("x", 'two\nlines, "quoted"'), Document("y", "")]
    assert (report.blank_lines, report.empty) == (1, 1)


def test_a_field_far_over_the_limit_of_the_csv_module(tmp_path):
    before = csv.field_size_limit()
    documents, _ = read(tmp_path, f"id,text\nx,{'word ' * 100_000}\n")
    assert len(documents[0].text) == 500_000
    assert csv.field_size_limit() == before


def test_a_wrong_number_of_fields_names_its_line(tmp_path):
    text = 'id,text\nx,"a\nb"\ny,c,d\nz,e\n'
    with pytest.raises(CorpusError, match=r"a\.csv, line 4: the record has 3 fields, but the header has 2"):
        read(tmp_path, text)
    documents, report = read(tmp_path, text, skip_bad=True)
    assert [document.id for document in documents] == ["x", "z"]
    assert report.bad == 1


def test_bad_quotes_name_their_lines(tmp_path):
    text = 'id,text\nx,"a"b\ny,c\nz,"never closed\nw,d\n'
    with pytest.raises(CorpusError, match=r"line 2: .* not valid CSV"):
        read(tmp_path, text)
    documents, report = read(tmp_path, text, skip_bad=True)
    assert [document.id for document in documents] == ["y", "w"], "the quote that is not closed takes in no other"
    assert report.bad == 2
    assert "line 4 to 5" in report.bad_examples[1]


def test_a_quote_that_is_never_closed_does_not_swallow_the_memory(tmp_path):
    text = 'id,text\nx,"never closed\n' + "y,some words\n" * 100
    with pytest.raises(CorpusError, match=r"line 2: the record that starts here is longer than 200 characters"):
        read(tmp_path, text, max_document_bytes=200)
    documents, report = read(tmp_path, text, max_document_bytes=200, skip_bad=True)
    assert report.bad == 1
    assert len(documents) == 100
    assert {document.text for document in documents} == {"some words"}


@pytest.mark.parametrize(("name", "delimiter"), [("a.csv", ","), ("a.tsv", "\t")])
def test_a_stray_quote_loses_no_record(tmp_path, name, delimiter):
    rows = [["id", "text"], ["a", '"rain'], ["b", "wind"], ["c", "sea"], ["d", 'said "so" to'], ["e", "sun"]]
    text = "".join(delimiter.join(row) + "\n" for row in rows)
    with pytest.raises(CorpusError, match="line 2"):
        read(tmp_path, text, name)
    documents, report = read(tmp_path, text, name, skip_bad=True)
    assert [document.id for document in documents] == ["b", "c", "d", "e"]
    assert report.bad == 1
    assert report.suspicious == 0


def test_records_that_two_stray_quotes_join_are_told(tmp_path):
    text = 'id\ttext\na\t"rain\nb\twind\nc\tsea"\nd\tsun\n'
    documents, report = read(tmp_path, text, "a.tsv")
    assert [document.id for document in documents] == ["a", "d"]
    assert report.suspicious == 1
    assert "a.tsv, line 2: the record goes on to line 4, and 2 of its lines" in report.suspicious_examples[0]
    with pytest.warns(UserWarning, match=r"a\.tsv, line 2: .* look like records of their own"):
        read_corpus(tmp_path / "a.tsv")
    with pytest.warns(UserWarning, match=r"line 2"):
        list(read_blocks(tmp_path / "a.tsv", vocabulary=["rain"]))
    _, report = read(tmp_path, 'id,text\na,"rain\nand wind\nand, at last, the sea"\n')
    assert report.suspicious == 0, "prose on several lines"


def test_quote_after_quote_takes_no_time_without_end(tmp_path):
    text = "id,text\n" + 'x,"never closed\n' * 20_000 + "y,z\n"
    documents, report = read(tmp_path, text, skip_bad=True, max_document_bytes=20_000)
    assert documents[-1].id == "y"
    assert report.bad + len(documents) == 20_001


def test_two_threads_do_not_disturb_the_limit(tmp_path):
    before = csv.field_size_limit()
    text = "id,text\n" + f"x,{'w' * 200_000}\n" * 20
    results = []

    def work(number):
        results.append(len(read(tmp_path, text, f"{number}.csv")[0]))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [20, 20]
    assert csv.field_size_limit() == before


def test_an_empty_table(tmp_path):
    assert read(tmp_path, "")[0] == []
    assert read(tmp_path, "id,text\n")[0] == []


@given(st.lists(st.tuples(st.text(min_size=1), st.text()), max_size=5))
def test_whatever_python_writes_is_read_back(tmp_path_factory, rows):
    rows = [tuple(value.encode("utf-8", "ignore").decode() for value in row) for row in rows]
    # A line break inside a field is read as it is but for the carriage return before it.
    rows = [(f"i{name}".replace("\r", ""), text.replace("\r", "")) for name, text in rows]
    file = Path(tempfile.mkdtemp(dir=tmp_path_factory.getbasetemp())) / "a.csv"
    with open(file, "w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([("id", "text"), *rows])
    assert [tuple(document) for document in DocumentReader(file)] == rows
