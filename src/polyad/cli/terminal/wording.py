"""What the library says, in the words of the command: what it means, what to do, and the number in brackets.

The library speaks to who calls it from Python, and may name parameters and moments; the command speaks to anybody.
"""

import re
from collections.abc import Callable

from polyad.base.plurals import how_many, there_are, things_of

Told = Callable[[re.Match[str]], str]


def for_people(sentence: str) -> str:
    """Put a sentence of the library into the words of the command.

    Examples
    --------
    >>> for_people("give the encoding, or errors='replace'; or raise max_document_bytes.")
    'give the encoding, or --errors replace; or raise --max-document-bytes.'
    >>> for_people("n_components is 20, but X has only 4 documents: ask for fewer.")
    '-k is 20, but there are only 4 documents: ask for fewer.'
    """
    for pattern, told in _SENTENCES:
        sentence = pattern.sub(told, sentence)
    for name, option in _OPTIONS.items():
        sentence = re.sub(rf"(?<![\w-]){re.escape(name)}(?!\w)", option, sentence)
    return sentence


def _number(written: str) -> int:
    return int(written.replace(",", ""))


def _noise(match: re.Match[str]) -> str:
    asked, found = _number(match["asked"]), int(match["found"])
    numbers = f"(signal {match['signal']}, noise {match['noise']})"
    if asked == 1:
        return f"What the documents have in common may be chance {numbers}. Give more documents, or longer ones."
    if found == 0:
        return (
            f"None of the {asked} topics is more than chance for sure {numbers}. Give more documents, or longer ones."
        )
    sure = "one" if found == 1 else f"{found}"
    return (
        f"About {sure} of the {asked} topics {'is' if found == 1 else 'are'} more than chance for sure, and the others "
        f"may be accidents of these documents {numbers}. Ask for {found} (-k {found}), or give more documents."
    )


def _rank(match: re.Match[str]) -> str:
    asked, found = int(match["asked"]), int(match["found"])
    if found == 0:
        return f"No topic can be told apart in these documents, and {asked} were asked for. Give more or longer ones."
    return (
        f"These documents tell {how_many(found, 'topics')} apart, and {asked} were asked for; the others are made "
        f"of single documents. Ask for {found} (-k {found}), or give more or longer documents."
    )


def _too_many(match: re.Match[str]) -> str:
    n = _number(match[2])
    return f"-k is {match[1]}, but there {'is' if n == 1 else 'are'} only {how_many(n, match[3] + 's')}: ask for fewer."


def _few_words(match: re.Match[str]) -> str:
    found, asked = int(match[1]), _number(match[2])
    return (
        f"Only {how_many(found, 'different words')} {'is' if found == 1 else 'are'} left, too few for "
        f"{how_many(asked, 'topics')}; {'' if asked == 1 else 'ask for fewer (-k), or '}keep more words (--min-df)."
    )


def _undetermined(match: re.Match[str]) -> str:
    found, asked = int(match["found"]), int(match["asked"])
    if asked == 1:
        return (
            "With a few documents more or less the topic could be another. Do not read much into it; give more "
            f"documents (certainty {match['sure']})."
        )
    which = "one topic" if found == 1 else f"{found} of the {asked} topics"
    numbers = f"{things_of(found, 'numbers')} {match['numbers']}"
    return (
        f"These documents do not settle {which} ({numbers}, marked with a question mark): with a few documents more or "
        f"less {'it could be another' if found == 1 else 'they could be others'}. Do not read much into "
        f"{'it' if found == 1 else 'them'}; ask for fewer topics, or give more documents (certainty {match['sure']})."
    )


def _total(match: re.Match[str]) -> str:
    return (
        "These documents hardly tell whether each of them is about few topics or about many: the shares of topics in a "
        f"document are rough (error {match['error']}% or more). Give more documents, or longer ones."
    )


def _clear(match: re.Match[str]) -> str:
    bits, more, best = match.groups()
    beside = "fewest of all" if float(more) == 0 else f"{more} more than the best, at {best}"
    return (
        "they stand out clearly, and further ones are far weaker (words not seen are predicted with "
        f"{bits} bits each, {beside}"
    )


_SENTENCES: list[tuple[re.Pattern[str], Told | str]] = [
    (
        re.compile(
            r"These documents do not tell the total of the prior well \([^)]+\): its standard error is "
            r"(?P<error>[\d,]+)%.*"
        ),
        _total,
    ),
    (
        re.compile(
            r"These data do not determine (?P<found>\d+) of the (?P<asked>\d+) components \(number (?P<numbers>[^;]+); "
            r"certainty (?P<sure>[^)]+)\).*"
        ),
        _undetermined,
    ),
    (
        re.compile(
            r"(?P<asked>[\d,]+) topics? (?:was|were) asked for, and about (?P<found>\d+) stand out from the noise of "
            r"the second moment \(eigenvalue (?P<signal>[^,]+), noise (?P<noise>[^)]+)\).*"
        ),
        _noise,
    ),
    (
        re.compile(r"The second moment of these data supports (?P<found>\d+) of the (?P<asked>\d+) topics asked for.*"),
        _rank,
    ),
    (
        re.compile(
            r"The second moment has only (?P<found>\d+) directions? with a variance above .*, and (?P<asked>\d+) "
            r"components were asked for.*"
        ),
        _rank,
    ),
    (
        re.compile(r"n_components is (\d+), but X has only (?:n_features=)?([\d,]+) (document|word|column)s?: ask.*"),
        _too_many,
    ),
    (
        re.compile(r"n_components is (\d+), but only (\d+) of the \d+ columns carry information.*"),
        r"-k is \1, but only \2 words tell anything about topics: ask for fewer, or keep more words (--min-df).",
    ),
    (
        re.compile(r"X has n_samples=(\d+), and topics are learned from what documents have in common: give.*"),
        lambda match: (
            f"{there_are(int(match[1]), 'documents')}, and topics are learned from what documents have in common: "
            "give at least 3."
        ),
    ),
    (
        re.compile(r"Only (\d+) of the n_features=\d+ words occur in X, too few for ([\d,]+) topics?\."),
        _few_words,
    ),
    (
        re.compile(r"None of the (\d+) documents has three words, and third moments are made of triples of words.*"),
        r"None of the \1 documents has three words that are kept, and topics are learned from words that come together "
        r"in a document. Give longer documents, join short ones, or drop fewer words (--stop-words none, --min-df 1).",
    ),
    (
        re.compile(
            r"the spectrum falls sharply after them \(and held-out bits are (\S+), (\S+) above the best, at (\d+)"
        ),
        _clear,
    ),
    (
        re.compile(r"more do not predict held-out words better \(best (\S+) bits at"),
        r"more do not predict words not seen any better (best \1 bits per word, at",
    ),
    (
        re.compile(r"of what more topics gain in held-out bits \("),
        "of what more topics gain in predicting words not seen (",
    ),
    (
        re.compile(r'The diagonaliser "(\w+)" stopped after (\d+) iterations with a change of (\S+) .*'),
        r"The topics had not quite settled after \2 rounds of --method \1 (change \3); another method, or fewer "
        r"topics (-k), may settle.",
    ),
    (
        re.compile(r"(\d+) of the (\d+) eigenvalues are complex, which noise alone does: .*"),
        r"Chance mixes up \1 of the \2 topics with this --method; jdtm or exact does not, and neither do fewer topics "
        r"(-k) or more documents.",
    ),
    (
        re.compile(r"(The lengths of the documents vary less than independent topics would make them) .*"),
        r"\1: topics that make room for each other are not what --model discrete-ica looks for. Use --model lda.",
    ),
    (
        re.compile(r"Write the views to one folder, from sources in one order.*"),
        "Give the corpora that these shards were made of instead: their rows are in the order of the files.",
    ),
    (re.compile(r"The spectrum singles out no number"), "No number stands out by itself"),
    (re.compile(r"name one as the (text|id) column"), r"name one with --\1-column"),
    (re.compile(r"Ask for fewer components, or give more data"), "Ask for fewer topics (-k), or give more documents"),
    (re.compile(r"lower the bound min_df or raise max_df"), "lower --min-df or raise --max-df"),
]

_OPTIONS = {
    "errors='replace'": "--errors replace",
    "max_document_bytes": "--max-document-bytes",
    "max_announced": "--max-announced",
    "max_features": "--max-features",
    "min_length": "--min-length",
    "min_df": "--min-df",
    "max_df": "--max-df",
    "stop_words='none'": "--stop-words none",
    "stop_words": "--stop-words",
    "n_components": "-k",
    "ignore_ids=True": "--ignore-ids",
    "random_state": "--seed",
    "n_jobs": "--jobs",
}
