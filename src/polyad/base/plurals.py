"""Numbers of things in sentences: one view, two views."""

_SINGULAR = {"corpora": "corpus", "classes": "class", "passes": "pass", "entries": "entry"}


def how_many(number: int, things: str) -> str:
    """Write a number and what it is the number of.

    Examples
    --------
    >>> how_many(1, "bad records"), how_many(2, "views"), how_many(1, "passes"), how_many(1200, "rows")
    ('1 bad record', '2 views', '1 pass', '1,200 rows')
    """
    return f"{number:,} {things_of(number, things)}"


def there_are(number: int, things: str) -> str:
    """Begin a sentence with a number of things.

    Examples
    --------
    >>> there_are(1, "views"), there_are(0, "views")
    ('There is 1 view', 'There are 0 views')
    """
    return f"There {'is' if number == 1 else 'are'} {how_many(number, things)}"


def things_of(number: int, things: str) -> str:
    """Return a plural, or the word for one thing.

    Examples
    --------
    >>> things_of(1, "rare words"), things_of(3, "rare words")
    ('rare word', 'rare words')
    """
    if number != 1:
        return things
    *before, last = things.split(" ")
    return " ".join([*before, _SINGULAR.get(last, last.removesuffix("s"))])
