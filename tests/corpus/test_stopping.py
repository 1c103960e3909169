"""Which words are dropped where nobody names a language: function words, of the languages of all documents."""

import gzip
import io
import json
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

import polyad
from polyad.corpus import (
    TOPIC_WORDS,
    ReadOptions,
    TextOptions,
    count_words,
    find_language,
    load_stop_words,
    read_blocks,
    read_corpus,
)
from polyad.corpus.words import choices as choices_module
from polyad.corpus.words.function_words import function_words, is_curated, listed_languages
from polyad.corpus.words.stopping import choose_stop_words, evenness

SHARED = Path(polyad.__file__).parents[3] / "shared" / "data"
ENGLISH = [
    "the rain and the wind of the sea are not what they were",
    "we have to raise the taxes of the state because of you",
    "the computer of the research group is in the world of goods",
]
FRENCH = [
    "la pluie et le vent de la mer ne sont pas dans le port",
    "nous avons voté le budget et les impôts pour cette nation",
    "les impôts de la mer sont une chose que je ne vois pas",
]
CZECH_CAPTIONS = [
    "pes běží po trávě",
    "muž v červené bundě stojí na ulici",
    "dvě děti si hrají s míčem na pláži",
    "žena s kloboukem čte knihu",
    "kočka spí na gauči vedle okna",
    "chlapec skáče do vody",
    "skupina lidí jde po mostě",
    "cyklista jede po silnici v dešti",
]


def test_words_that_matter_survive():
    kept = "computer world research information system states member section order goods man men woman young group work"
    dropped = "the and of she they which unless don't i'm shall would"
    assert not set(kept.split()) & function_words("en")
    assert set(dropped.split()) <= function_words("en")
    corpus = count_words(ENGLISH * 5, TOPIC_WORDS)
    assert {"computer", "research", "group", "world", "goods", "state"} <= set(corpus.vocabulary)
    assert not {"the", "and", "they", "what", "you", "because"} & set(corpus.vocabulary)
    assert load_stop_words("english").words == tuple(sorted(function_words("en")))


def test_curated_lists_are_of_what_there_is():
    """A content word that no list has would be a slip of the pen; a language without a list, too."""
    import stopwordsiso

    from polyad.corpus.words import function_words as module

    assert set(module._CONTENT) <= set(listed_languages())
    for code, words in module._CONTENT.items():
        assert set(words.split()) - set(stopwordsiso.stopwords(code)) == set(), code
        assert is_curated(code)
        assert len(function_words(code)) > 300
    assert not is_curated("cs")


@pytest.mark.parametrize("order", [1, -1])
def test_all_documents_tell_the_language(order):
    texts = (FRENCH * 84)[:250] + ENGLISH * 3334
    corpus = count_words(texts[::order], TOPIC_WORDS)
    assert corpus.report.language == "english"
    assert corpus.report.sampled == len(texts)


def test_mixed_texts_are_told_and_lose_the_stop_words_of_both(tmp_path):
    texts = [text for pair in zip(ENGLISH, FRENCH) for text in pair] * 20
    corpus = count_words(texts, TOPIC_WORDS)
    assert dict(corpus.report.languages) == {"english": 60, "french": 60}
    assert not {"the", "and", "le", "la", "les", "dans"} & set(corpus.vocabulary)
    assert {"taxes", "impôts"} <= set(corpus.vocabulary)
    assert "english in 60 documents, french in 60 documents" in str(corpus.report)
    stems = count_words(texts, TextOptions(stop_words="auto", stemming="auto"))
    assert stems.report.options.stemming in ("english", "french")
    file = tmp_path / "mixed.txt"
    file.write_text("\n".join(texts), encoding="utf-8")
    assert read_corpus(file, TOPIC_WORDS).report.languages == corpus.report.languages


def test_a_few_foreign_documents_are_no_other_language():
    corpus = count_words(ENGLISH * 30 + FRENCH, TOPIC_WORDS)
    assert [name for name, _ in corpus.report.languages] == ["english"]


def test_short_texts_of_an_inflected_language():
    assert find_language(CZECH_CAPTIONS) == "czech"
    corpus = count_words(CZECH_CAPTIONS * 3, TextOptions(stop_words="auto"))
    assert corpus.report.language == "czech"
    assert not {"na", "po", "si"} & set(corpus.vocabulary)
    assert {"pes", "kočka", "běží"} <= set(corpus.vocabulary)


def test_a_word_that_is_one_of_another_language_by_chance():
    """Captions of one that rides (jede) are no German, though each has more of that one word than of Czech ones."""
    more = [
        "chlapec na kole jede lesem",
        "dva psi se perou o klacek",
        "lidé čekají na zastávce na autobus",
        "malé dítě se směje na houpačce",
        "kočka se dívá z okna na ptáky",
        "kůň skáče přes překážku",
    ]
    corpus = count_words([*CZECH_CAPTIONS, *more], TextOptions(stop_words="auto"))
    assert corpus.report.languages == (("czech", 14),)


@pytest.mark.parametrize(
    "texts",
    [
        ["x1 y2 z3"] * 9,
        ["eba ebg edo zzu"] * 9,
        ["Woodrow Hoover Truman", "Lyndon Nixon Carter"] * 9,
        ["qwxzvk"] * 5,
        [""],
    ],
)
def test_no_language_is_found_where_there_is_none(texts):
    corpus = count_words(texts, TextOptions(stop_words="auto"))
    assert corpus.report.language is None
    assert "stop words" not in corpus.report.dropped


def test_a_word_with_a_subject_of_its_own_stays_where_the_list_is_wide():
    """Of a list that nobody has gone through, what comes in a few documents again and again is no stop word."""
    rng = np.random.default_rng(0)
    listed = sorted(word for word in function_words("cs") if len(word) > 2)[:30]
    subject = listed[0]
    texts = []
    for number in range(200):
        words = [*rng.choice(listed[1:], 20), *rng.choice(["pes", "les", "dům"], 10)]
        texts.append(" ".join(words + [subject] * (12 if number % 20 == 0 else 0)))
    corpus = count_words(texts, TextOptions(stop_words="auto"))
    assert corpus.report.language == "czech"
    assert subject in corpus.vocabulary
    assert not set(listed[1:]) & set(corpus.vocabulary)


def test_evenness_against_loops():
    rng = np.random.default_rng(3)
    counts = rng.poisson(rng.gamma(0.3, 2.0, (40, 12)))
    lengths, frequency = counts.sum(axis=1), counts.sum(axis=0) / counts.sum()
    columns = np.array([1, 4, 7])
    wanted = [(counts[:, m] > 0).sum() / sum(1 - np.exp(-frequency[m] * length) for length in lengths) for m in columns]
    assert np.allclose(evenness(csr_array(counts), columns), wanted)


def test_nothing_at_all():
    assert choose_stop_words([], csr_array((3, 0), dtype=np.int64)).stop_words is None


def test_runs_of_words_warn_of_other_languages_further_on(monkeypatch):
    """n-grams need the stop words before the first is counted: the first documents decide, and all are looked at."""
    monkeypatch.setattr(choices_module, "SAMPLE_DOCUMENTS", 20)
    monkeypatch.setattr(choices_module, "SPREAD_DOCUMENTS", 30)
    options = TextOptions(stop_words="auto", ngrams=(1, 2))
    with pytest.warns(UserWarning, match=r"first 20 documents \(french language\), and others are in english"):
        corpus = count_words(FRENCH * 10 + ENGLISH * 100, options)
    assert corpus.report.language == "french"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert count_words(FRENCH * 100, options).report.language == "french"


def test_dante_says_si_in_no_topic():
    file = SHARED / "dante" / "divina_commedia.jsonl.gz"
    if not file.exists():
        pytest.skip("the texts of ../shared/data are not here")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        corpus = count_words([json.loads(line)["text"] for line in lines], TOPIC_WORDS)
    assert corpus.report.language == "italian"
    assert "sì" not in corpus.vocabulary
    assert {"mondo", "vita", "gente", "luce"} <= set(corpus.vocabulary)


def test_blocks_are_in_the_language_of_all_of_the_text(tmp_path, monkeypatch):
    """A few French lines in front of English ones: what the first documents say is not what the text is."""
    file = tmp_path / "a.txt"
    file.write_text("\n".join(FRENCH * 84 + ENGLISH * 700), encoding="utf-8")
    words, options = ["the", "of", "la", "rain", "pluie"], TextOptions(stop_words="auto")
    whole = read_corpus(file, options, vocabulary=words)
    blocks = list(read_blocks(file, options, vocabulary=words, documents=100))
    assert np.array_equal(np.vstack([block.counts.toarray() for block in blocks]), whole.counts.toarray())
    assert whole.report.language == "english"
    assert {block.report.language for block in blocks} == {"english"}
    assert sum(block.counts.toarray()[:, :3].sum() for block in blocks) == 0, "stop words of both languages"
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(file.read_bytes())))
    with pytest.warns(UserWarning, match="The stop words are those of the first 200 documents"):
        piped = list(read_blocks("-", options, vocabulary=words, reading=ReadOptions(format="lines")))
    assert piped[0].report.language == "french"
