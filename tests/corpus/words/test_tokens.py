"""What a word is, and the options."""

import json
import sys
import unicodedata
import warnings
from types import ModuleType, SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyad.corpus import StopWords, TextOptions, load_stop_words, split_words
from polyad.corpus.words.languages import check_stemmer, stem_words

EVERYTHING = TextOptions(numbers="keep", min_length=1, apostrophes="keep", lowercase=False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't stop", ["don't", "stop"]),
        ("Canada's students' Act", ["canada", "students", "act"]),
        ("l'homme qu'aujourd’hui", ["homme", "aujourd'hui"]),
        ("L’État d'Île", ["état", "île"]),
        ("dell'arte ch'io", ["arte", "io"]),
        ("O'Neill rock'n'roll", ["o'neill", "rock'n'roll"]),
        ("'quoted' ''twice''", ["quoted", "twice"]),
        ("well-known co\u00adoperate", ["well", "known", "cooperate"]),
        ("col·laborar", ["col·laborar"]),
        ("n_components __init__ _x_", ["n_components", "init"]),
        ("ﬁnal oﬃce Ｆｕｌｌ", ["final", "office", "full"]),
        ("Python™ x² ½", ["python", "x2"]),
        ("e\u0301te\u0301 ÉTÉ", ["été", "été"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("ไทย עִבְרִית العربيّة", ["ไทย", "עִבְרִית", "العربيّة"]),
        ("می‌خواهم", ["می‌خواهم"]),
        ("Straße ΣΊΣΥΦΟΣ", ["straße", "σίσυφος"]),
        ("1984 3rd covid19 10,000.5", ["3rd", "covid19"]),
        ("a I ok", ["ok"]),
        ("x\0y_z\x1fword\u2028line\u200bzero", ["y_z", "word", "line", "zero"]),
        ("😀 👩‍💻 1️⃣", []),
        ("", []),
    ],
)
def test_the_rule(text, words):
    assert split_words(text) == words


def test_options_switch_the_rule_off():
    assert split_words("L'État's 26(1) A", EVERYTHING) == ["L'État's", "26", "1", "A"]
    assert split_words("The END", TextOptions(lowercase=False, stop_words=["the"])) == ["The", "END"]
    assert split_words("The END", TextOptions(stop_words=["The"])) == ["end"]
    assert split_words("I don’t", TextOptions(stop_words=["don't"])) == []


@given(st.text())
def test_words_are_clean_whatever_the_text(text):
    for word in split_words(text, EVERYTHING):
        assert word
        assert not any(map(str.isspace, word))
        assert word[0].isalnum()
    for word in split_words(text):
        assert any(map(str.isalpha, word))


@given(st.text())
def test_splitting_at_white_space_first_changes_nothing(text):
    pieces = [word for piece in text.split() for word in split_words(piece)]
    assert split_words(text) == pieces
    assert split_words(unicodedata.normalize("NFC", text)) == split_words(text)


def test_options_round_trip_through_json():
    options = TextOptions(
        lowercase=False,
        apostrophes="keep",
        numbers="keep",
        min_length=3,
        stop_words=["the", "and"],
        stemming="fr",
        ngrams=(1, 3),
        min_df=0.1,
        max_df=20,
        max_features=7,
        tokenizer="chinese",
    )
    again = TextOptions.from_dict(json.loads(json.dumps(options.to_dict())))
    assert again == options
    assert hash(again) == hash(options)
    assert TextOptions.from_dict(json.loads(json.dumps(TextOptions().to_dict()))) == TextOptions()
    assert again.stemming == "french"


@pytest.mark.parametrize(
    "wrong",
    [
        {"min_length": 0},
        {"min_length": True},
        {"min_length": "2"},
        {"ngrams": (2, 1)},
        {"ngrams": (0, 1)},
        {"ngrams": (1,)},
        {"ngrams": (1, 2.0)},
        {"ngrams": 3},
        {"min_df": -1},
        {"max_df": 1.5},
        {"max_df": True},
        {"max_df": "half"},
        {"min_df": float("nan")},
        {"max_features": 0},
        {"numbers": "maybe"},
        {"apostrophes": "split"},
        {"tokenizer": "klingon"},
        {"stemming": "klingon"},
        {"stop_words": "klingon"},
        {"stop_words": [1, 2]},
        {"stop_words": {"source": "x"}},
        {"stop_words": {"source": "x", "words": [1]}},
        {"stop_words": 3},
        {"colour": "red"},
    ],
)
def test_wrong_options_are_sentences(wrong):
    with pytest.raises(ValueError, match=r"\.$"):
        TextOptions.from_dict(wrong)


def test_stop_words_of_a_language_a_file_and_a_list(tmp_path):
    pytest.importorskip("stopwordsiso")
    english = load_stop_words("English")
    assert english == load_stop_words("en")
    assert english.source == "english"
    assert {"the", "and", "don't"} <= set(english.words)
    assert "le" in load_stop_words("french").words
    (tmp_path / "stop.txt").write_text("\ufeffthe\n\n and \nthe\n", encoding="utf-8")
    for spec in (tmp_path / "stop.txt", str(tmp_path / "stop.txt")):
        assert load_stop_words(spec).words == ("and", "the")
    assert load_stop_words(["b", "a", "b"]) == StopWords("given", ("a", "b"))
    assert load_stop_words(None) is load_stop_words("None") is None


def test_a_file_of_stop_words_that_is_no_text(tmp_path):
    (tmp_path / "stop.txt").write_bytes(b"\xff")
    with pytest.raises(ValueError, match="UTF-8"):
        load_stop_words(tmp_path / "stop.txt")


def test_missing_libraries_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "stopwordsiso", None)
    with pytest.raises(ValueError, match="pip install"):
        load_stop_words("english")
    with pytest.raises(ValueError, match="neither a language"):
        load_stop_words("absent.txt")
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    with pytest.raises(ValueError, match="pip install"):
        check_stemmer("english")


def test_stems_by_name_and_by_code():
    pytest.importorskip("snowballstemmer")
    assert stem_words(["nations", "national"], "en") == stem_words(["nations", "national"], "english")
    assert check_stemmer("IT") == "italian"


def test_chinese_and_japanese_by_stand_ins(monkeypatch):
    from polyad.corpus.words import tokens as words

    words._chinese.cache_clear()
    words._japanese.cache_clear()
    jieba = ModuleType("jieba")
    jieba.setLogLevel = lambda level: None
    jieba.lcut = lambda text: [text[:2], text[2:4], text[4:]]
    fugashi = ModuleType("fugashi")
    fugashi.Tagger = lambda: lambda text: [SimpleNamespace(surface=text[:2]), SimpleNamespace(surface=text[2:])]
    monkeypatch.setitem(sys.modules, "jieba", jieba)
    monkeypatch.setitem(sys.modules, "fugashi", fugashi)
    try:
        assert split_words("北京大学。", TextOptions(tokenizer="chinese")) == ["北京", "大学"]
        assert split_words("東京。", TextOptions(tokenizer="japanese")) == ["東京"]
    finally:
        words._chinese.cache_clear()
        words._japanese.cache_clear()


def test_chinese_and_japanese_themselves():
    with warnings.catch_warnings():
        # Importing jieba warns about things of its own.
        warnings.simplefilter("ignore")
        pytest.importorskip("jieba")
        pytest.importorskip("fugashi")
        pytest.importorskip("unidic_lite")
        assert split_words("我来到北京清华大学。", TextOptions(tokenizer="chinese")) == ["来到", "北京", "清华大学"]
    assert "東京" in split_words("東京都に住んでいます。", TextOptions(tokenizer="japanese"))


@pytest.mark.parametrize(("tokenizer", "library"), [("chinese", "jieba"), ("japanese", "fugashi")])
def test_tokenizers_that_are_missing_say_what_to_install(tokenizer, library, monkeypatch):
    from polyad.corpus.words import tokens as words

    words._chinese.cache_clear()
    words._japanese.cache_clear()
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ValueError, match="pip install"):
        split_words("北京", TextOptions(tokenizer=tokenizer))
