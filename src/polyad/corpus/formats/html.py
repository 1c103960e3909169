"""The text of a page of HTML, in one scan: the parser of the standard library takes the square of some lengths."""

import html
import re

_HIDDEN = frozenset({"script", "style", "template", "noscript"})
_INLINE = frozenset({"a", "abbr", "b", "bdi", "cite", "code", "em", "font", "i", "mark", "q", "s", "small", "span"})
_INLINE |= {"strong", "sub", "sup", "u", "var", "wbr"}
_TAG = re.compile(r"</?([a-z][a-z0-9]*)", re.IGNORECASE)


def text_of_html(page: str) -> str:
    """Return what a page shows: no tags, scripts or styles, and characters in place of their names.

    Examples
    --------
    >>> text_of_html("<html><style>p {}</style><p>caf&eacute; <b>no</b>ir</p><p>1 < 2, the end").split()
    ['café', 'noir', '1', '<', '2,', 'the', 'end']
    """
    parts: list[str] = []
    lowered = page.lower()
    lowered = lowered if len(lowered) == len(page) else page  # the small letters of a few capitals are two
    at = 0
    while (start := page.find("<", at)) >= 0:
        parts.append(page[at:start])
        if page.startswith("<!--", start):
            at = _after(page, "-->", start)
            continue
        tag = _TAG.match(page, start)
        if tag is None and not page.startswith(("<!", "<?"), start):
            parts.append("<")  # a sign, and no tag
            at = start + 1
            continue
        name = "" if tag is None else tag[1].lower()
        at = _after(page, ">", start)
        if name in _HIDDEN and page[start + 1] != "/":
            at = _after(page, ">", _before(lowered, f"</{name}", at))
        if name not in _INLINE:
            parts.append(" ")  # tags inside a word do not cut it, and all others do
    parts.append(page[at:])
    return html.unescape("".join(parts))


def _before(page: str, what: str, at: int) -> int:
    found = page.find(what, at)
    return len(page) if found < 0 else found


def _after(page: str, what: str, at: int) -> int:
    found = page.find(what, at)
    return len(page) if found < 0 else found + len(what)
