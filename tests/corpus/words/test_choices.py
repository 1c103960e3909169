"""What is left open is settled by the text itself, and told."""

import builtins
from dataclasses import replace

import pytest

from polyad.corpus import (
    TOPIC_WORDS,
    StopWords,
    TextOptions,
    count_words,
    default_min_df,
    filter_words,
    find_language,
    make_corpus,
    read_blocks,
    read_corpus,
    split_words,
    stack,
)
from polyad.corpus.words import choices as choices_module
from polyad.corpus.words import detection as language
from polyad.corpus.words.choices import look_at_beginning, of_counts

ENGLISH = ["the rain and the wind of the sea", "the budget and the taxes of the state", "the taxes of the sea"]
FRENCH = ["la pluie et le vent de la mer", "le budget et les impôts de la nation", "les impôts de la mer"]


@pytest.mark.parametrize(("texts", "language"), [(ENGLISH, "english"), (FRENCH, "french"), (["alpha beta"] * 9, None)])
def test_the_language_is_found_and_told(texts, language):
    corpus = count_words(texts * 4, TextOptions(stop_words="auto"))
    report = corpus.report
    assert (report.language, report.sampled, report.min_df) == (language, 4 * len(texts), None)
    assert report.options == TextOptions(stop_words=language)
    assert corpus.vocabulary == count_words(texts, TextOptions(stop_words=language)).vocabulary
    assert f"language: {language or 'none'} found" in str(report)


def test_the_bound_by_the_number_of_documents_is_told():
    corpus = count_words([*ENGLISH * 4, "once"], TextOptions(min_df="auto"))
    assert corpus.report.options.min_df == corpus.report.min_df == default_min_df(13) == 2
    assert corpus.report.dropped["rare words"].examples == ("once",)
    assert "at least 2 documents" in str(corpus.report)
    given = count_words(ENGLISH * 4, TextOptions(min_df=2)).report
    assert (given.min_df, given.sampled, given.options.min_df) == (None, 0, 2)


def test_settled_options_give_the_same_corpus():
    left = count_words(ENGLISH * 5, TOPIC_WORDS)
    named = count_words(ENGLISH * 5, left.report.options)
    assert left.report.options.is_settled
    assert left.vocabulary == named.vocabulary
    assert (left.counts != named.counts).nnz == 0
    assert replace(left.report, language=None, sampled=0, min_df=None).dropped == named.report.dropped


@pytest.mark.parametrize("sizes", [(1, 2), (2, 2), (1, 3)])
def test_neighbours_are_words_that_the_found_language_keeps(sizes):
    found = count_words(ENGLISH, TextOptions(stop_words="auto", ngrams=sizes))
    named = count_words(ENGLISH, TextOptions(stop_words="english", ngrams=sizes))
    assert found.vocabulary == named.vocabulary
    assert "rain wind" in found.vocabulary
    assert not any("the" in term.split() for term in found.vocabulary)


def test_stems_follow_the_language():
    corpus = count_words([*ENGLISH, "the taxed and the taxing"], TextOptions(stop_words="auto", stemming="auto"))
    assert corpus.report.options.stemming == "english"
    assert TextOptions(stop_words="fr", stemming="auto").stemming == "french"
    with pytest.raises(ValueError, match="no language was found"):
        count_words(["alpha beta"], TextOptions(stop_words="auto", stemming="auto"))
    with pytest.raises(ValueError, match="there are none"):
        TextOptions(stemming="auto")


def test_the_first_documents_decide_and_none_is_lost(monkeypatch):
    monkeypatch.setattr(choices_module, "SAMPLE_DOCUMENTS", 4)
    taken = []
    texts = (taken.append(number) or text for number, text in enumerate([*ENGLISH * 2, *FRENCH * 9]))
    beginning, rest = look_at_beginning(texts, TOPIC_WORDS)
    assert (beginning.language, beginning.sampled, taken) == ("english", 4, [0, 1, 2, 3])
    assert list(rest) == [*ENGLISH * 2, *FRENCH * 9]


def test_long_documents_do_not_pile_up(monkeypatch):
    monkeypatch.setattr(choices_module, "WAITING_CHARACTERS", 100)
    beginning, rest = look_at_beginning(ENGLISH * 50, TOPIC_WORDS)
    assert beginning.sampled == 4
    assert len(list(rest)) == 150


def test_nothing_is_taken_where_nothing_is_open():
    texts = iter(ENGLISH)
    beginning, rest = look_at_beginning(texts, TextOptions(min_df="auto"))
    assert rest is texts
    assert beginning.sampled == 0


def test_empty_and_foreign_input():
    assert len(count_words([], TOPIC_WORDS)) == 0
    assert count_words(["", " "], TOPIC_WORDS).report.language is None
    with pytest.raises(TypeError, match="Document or str"):
        count_words([3], TOPIC_WORDS)


def test_one_language_for_all_blocks(tmp_path):
    (tmp_path / "a.txt").write_text("".join(f"{text}\n" for text in ENGLISH * 3))
    words = ("rain wind", "sea", "taxes state", "the")
    options = TextOptions(stop_words="auto", min_df="auto", ngrams=(1, 2))
    blocks = list(read_blocks(tmp_path / "a.txt", options, vocabulary=words, documents=2))
    whole = read_corpus(tmp_path / "a.txt", options, vocabulary=words)
    assert (stack(blocks).counts != whole.counts).nnz == 0
    assert {block.report.language for block in blocks} == {"english"}
    assert all(block.report.options.is_settled for block in blocks)
    assert whole.counts.sum(axis=0).tolist() == [3, 6, 3, 0]  # state is no function word


def test_counts_have_the_words_that_they_were_given(tmp_path):
    counts = make_corpus([[3, 1, 0], [2, 0, 0]], ["the", "cat", "never"])
    assert filter_words(counts, TOPIC_WORDS) is counts
    assert filter_words(counts, replace(TOPIC_WORDS, stop_words=["the"])).vocabulary == ("cat",)
    asked = of_counts(replace(TOPIC_WORDS, max_df=0.5, ngrams=(1, 2)))
    assert asked == TextOptions(max_df=0.5)
    assert filter_words(counts, asked).report.options == asked


def test_open_options_are_plain_values_too():
    assert TextOptions.from_dict(TOPIC_WORDS.to_dict()) == TOPIC_WORDS
    with pytest.raises(ValueError, match="name the language"):
        split_words("the rain", TOPIC_WORDS)
    with pytest.raises(ValueError, match="min_df"):
        TextOptions(min_df="few")


def test_ngrams_that_are_stop_words_are_dropped():
    corpus = count_words(["bánh mì bởi vì mưa"], TextOptions(stop_words=["bởi vì", "mưa"], ngrams=(1, 2)))
    assert "bởi vì" not in corpus.vocabulary
    assert "bánh mì" in corpus.vocabulary
    assert corpus.report.dropped["stop words"].tokens == 2


def test_languages_are_found_from_any_texts():
    assert find_language(iter(FRENCH)) == "french"
    assert find_language(["わたしの本"]) == "japanese"
    assert find_language([]) is None


def test_without_the_lists_the_package_is_named(monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest):
        if name == "stopwordsiso":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    language._lists.cache_clear()
    with pytest.raises(ValueError, match="stopwordsiso"):
        count_words(ENGLISH, TOPIC_WORDS)
    with pytest.raises(ValueError, match="stopwordsiso"):
        TextOptions(stop_words="english")
    listed = StopWords("given", ("the",))
    assert count_words(ENGLISH, replace(TOPIC_WORDS, stop_words=listed)).report.language is None
