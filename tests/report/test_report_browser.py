"""The page in a real Chromium: it draws, answers mouse and keyboard, loads nothing, runs nothing foreign."""

import numpy as np
import pytest

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

from browser import AXE, needs_axe, needs_browser, started
from pages import HOSTILE, honest, hostile
from polyad import ICA, PolylingualLDA
from polyad.datasets import make_ica, make_lda
from polyad.models import Selection

pytestmark = needs_browser


@pytest.fixture(scope="module")
def browser():
    pytest.importorskip("selenium")
    with started() as running:
        yield running


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    model, corpus, known = honest()
    file = tmp_path_factory.mktemp("honest") / "report.html"
    model.report(file, corpus, **known)
    return file


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory):
    model, corpus, known = hostile()
    file = tmp_path_factory.mktemp("hostile") / "report.html"
    model.report(file, corpus, **known)
    return file


def words_of(browser):
    return browser.texts("#words button[data-word]")


def test_draws_everything_without_a_word_or_a_request(browser, page):
    browser.open(page)
    assert browser.complaints() == []
    assert browser.requests() == []
    charts = browser.run("return [...document.querySelectorAll('figure[data-chart]')].map((f) => f.dataset.chart)")
    assert {"map", "time", "groups", "tree", "spectrum"} <= set(charts)
    assert browser.run("return document.querySelectorAll('figure[data-chart] svg').length") == len(charts)
    assert browser.run("return document.querySelectorAll('[data-chart=map] .mark-symbol path').length") == 3


def test_a_click_in_the_map_changes_words_and_documents(browser, page):
    browser.open(page)
    before = words_of(browser), browser.texts("#documents-list li")
    assert len(before[1]) == 8
    browser.run(
        "const circle = document.querySelectorAll('[data-chart=map] .mark-symbol path')[2].getBoundingClientRect();"
        "const at = {bubbles: true, clientX: circle.x + circle.width / 2, clientY: circle.y + circle.height / 2};"
        "const target = document.elementFromPoint(at.clientX, at.clientY);"
        "for (const kind of ['mousemove', 'mousedown', 'mouseup', 'click'])"
        "  target.dispatchEvent(new MouseEvent(kind, at));"
    )
    browser.wait("return document.getElementById('topic-select').value === '2'")
    after = words_of(browser), browser.texts("#documents-list li")
    assert set(before[0][:8]).isdisjoint(after[0][:8])
    assert before[1] != after[1]
    assert browser.run("return location.hash") == "#topic-2"


def test_words_of_documents_are_marked(browser, page):
    browser.open(page)
    marked = {text.lower() for text in browser.texts("#documents-list li:first-child mark")}
    assert marked
    assert marked <= {word.lower() for word in words_of(browser)}
    assert "the" not in marked


def test_the_slider_reorders_words(browser, page):
    browser.open(page)
    orders = set()
    for weight in ("0", "0.5", "1"):
        browser.run(
            "const s = document.getElementById('weight'); s.value = arguments[0];"
            "s.dispatchEvent(new Event('input', {bubbles: true}))",
            weight,
        )
        orders.add(tuple(words_of(browser)))
    assert len(orders) >= 2
    shares = browser.texts("#words td:nth-child(3)")
    values = [float(text.split("%")[0]) for text in shares]
    assert values == sorted(values, reverse=True)  # at 1 words stand in the order of their frequency


def test_a_word_that_is_searched_for_shows_its_topics(browser, page):
    browser.open(page)
    browser.run(
        "const s = document.getElementById('search'); s.value = 'jur'; s.dispatchEvent(new Event('input'));"
        "document.querySelector('#results button[data-found]').click()"
    )
    assert "jury" in browser.text("#word-box h3")
    assert len(browser.texts("#word-box button[data-topic]")) >= 1
    browser.run("const s = document.getElementById('search'); s.value = 'doc-7'; s.dispatchEvent(new Event('input'))")
    assert "typical document" in browser.text("#found")


def test_the_keyboard_alone_does_it_all(browser, page, aligned_page):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser.open(page)
    driver = browser.driver

    def reach(identifier):
        for _ in range(80):
            if browser.run("return document.activeElement.id") == identifier:
                return driver.switch_to.active_element
            driver.switch_to.active_element.send_keys(Keys.TAB)
        raise AssertionError(f"Tab never comes to {identifier}")

    driver.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    assert browser.run("return document.activeElement.className") == "skip"
    reach("topic-select").send_keys(Keys.ARROW_DOWN)
    browser.wait("return location.hash === '#topic-1'")
    reach("next").send_keys(Keys.ENTER)
    browser.wait("return location.hash === '#topic-2'")
    before = words_of(browser)
    slider = reach("weight")
    for _ in range(10):
        slider.send_keys(Keys.ARROW_LEFT)
    assert browser.text("#weight-value") == "0.0"
    assert words_of(browser) != before
    driver.switch_to.active_element.send_keys(Keys.TAB)
    driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert browser.text("#word-box h3").startswith("The word")
    reach("search").send_keys("city")
    driver.switch_to.active_element.send_keys(Keys.TAB)
    driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert "city" in browser.text("#word-box h3")
    # Every other way to a topic: the topics of a word, those alike, of documents, of times, and the table of all. One
    # real Tab from what comes before it, and one real Enter.
    for place in ("#word-box", "#topic-facts", "#time .legend", "#all", "#documents-list"):
        if place == "#documents-list":
            browser.open(aligned_page)  # whose documents have several topics
        wanted = browser.run(
            "const all = [...document.querySelectorAll('a, button, select, input, [tabindex=\"0\"]')];"
            "const chosen = location.hash.slice(7);"
            "const at = all.findIndex((node) => node.matches(arguments[0]) && node.dataset.topic !== chosen);"
            "if (at < 0) return -1; all[at - 1].focus({focusVisible: true}); return +all[at].dataset.topic",
            f"{place} button[data-topic]",
        )
        assert wanted >= 0, f"no other topic in {place}"
        driver.switch_to.active_element.send_keys(Keys.TAB)
        driver.switch_to.active_element.send_keys(Keys.ENTER)
        browser.wait(f"return location.hash === '#topic-{wanted}'")
        assert browser.text("#topic-title").startswith(f"Topic {wanted} ·")


def test_a_hostile_corpus_shows_and_does_not_run(browser, hostile_page):
    browser.open(hostile_page)
    for topic in (0, 1):
        browser.run(
            "const s = document.getElementById('topic-select'); s.value = arguments[0];"
            "s.dispatchEvent(new Event('change'))",
            topic,
        )
        browser.run("for (const b of document.querySelectorAll('#words button')) b.click()")
        browser.run("const s = document.getElementById('search'); s.value = '<'; s.dispatchEvent(new Event('input'))")
        for circle in (0, 1):  # the tooltip
            browser.run(
                "const r = document.querySelectorAll('[data-chart=map] .mark-symbol path')[arguments[0]]"
                ".getBoundingClientRect(); const at = {bubbles: true, clientX: r.x + 5, clientY: r.y + 5};"
                "document.elementFromPoint(at.clientX, at.clientY).dispatchEvent(new MouseEvent('mousemove', at))",
                circle,
            )
    assert browser.run("return window.pwned === undefined && document.querySelectorAll('main img').length === 0")
    assert browser.requests() == []
    assert browser.complaints() == []
    shown = browser.text("body")
    for piece in ("<script>window.pwned=1</script>", "<img src=x onerror=window.pwned=3>", "العربية", "中文词语"):
        assert piece in shown
    assert not any(character in shown for character in "\u202e\u202c\x00\x07\x1b")


def test_the_policy_stops_what_would_get_into_the_page(browser, page, tmp_path):
    # The same page with a script smuggled in: the policy, and not only the escaping, keeps it from running.
    broken = tmp_path / "broken.html"
    text = page.read_text("utf-8")
    broken.write_text(
        text.replace(
            "<footer>", "<script>window.pwned=1</script><img src=http://127.0.0.1:9/ onerror=pwned=2><footer>"
        ),
        "utf-8",
    )
    browser.open(broken)
    assert browser.run("return window.pwned === undefined")
    assert len(browser.complaints()) >= 2


@pytest.mark.parametrize("width", [1280, 360])
def test_nothing_is_wider_than_the_window(browser, page, hostile_page, width):
    for file in (page, hostile_page):
        browser.open(file, width)
        assert browser.run("return document.documentElement.scrollWidth") <= width
        # Charts, too: nothing of a drawing is cut off at its edge.
        cut = browser.run(
            "return [...document.querySelectorAll('figure svg')].filter((svg) => {"
            "const box = svg.getBoundingClientRect();"
            "return [...svg.querySelectorAll('text')].some((text) => { const t = text.getBoundingClientRect();"
            "return t.width && (t.left < box.left - 1.5 || t.right > box.right + 1.5) }) })"
            ".map((svg) => svg.closest('figure').dataset.chart)"
        )
        assert cut == []


@pytest.fixture(scope="module")
def signal_page(tmp_path_factory):
    """Return a page of signals whose names try to break out of it, with spectrograms."""
    pandas = pytest.importorskip("pandas")
    signals = pandas.DataFrame(make_ica(600, 3, sources="skewed").X, columns=[HOSTILE[1], HOSTILE[2], HOSTILE[10]])
    file = tmp_path_factory.mktemp("signals") / "report.html"
    model = ICA(3).fit(signals)
    model.names_ = {0: HOSTILE[0], 1: HOSTILE[3], 2: HOSTILE[11]}
    model.report(file, signals, title=HOSTILE[2], rate=100.0)
    return file


@pytest.fixture(scope="module")
def aligned_page(tmp_path_factory):
    """Return a page of two texts, by month, with how the number of topics was chosen."""
    counts = make_lda(120, 40, 3, length=40, prior=2.0).counts
    file = tmp_path_factory.mktemp("aligned") / "report.html"
    chosen = Selection(
        [{"n_components": n, "bits": 5.0 - n, "coherence": 0.1 * n, "stability": 0.9, "seconds": 1} for n in (2, 3)],
        3, HOSTILE[1], np.array([3.0, 2.0, 1.0]),
    )  # fmt: skip
    views = {HOSTILE[2]: counts[:, :20], "العربية": counts[:, 20:]}
    PolylingualLDA(3).fit(views).report(
        file,
        views,
        dates=[f"2020-{1 + row % 12:02}" for row in range(120)],
        selection=chosen,
    )
    return file


def test_pages_of_signals_are_drawn_and_run_nothing(browser, signal_page):
    browser.open(signal_page, 360)
    assert browser.complaints() == []
    assert browser.requests() == []
    assert browser.run("return document.querySelectorAll('figure[data-chart] svg').length") == 8
    # Each spectrogram is one picture that the browser could read, and that fills the axes.
    sizes = browser.run(
        "return Promise.all([...document.querySelectorAll('svg image')].map(async (at) => {"
        "const read = new Image(); read.src = at.getAttribute('xlink:href') || at.getAttribute('href');"
        "await read.decode(); return [read.naturalHeight, at.getBoundingClientRect().width] }))"
    )
    assert [height for height, _ in sizes] == [64] * 3
    assert min(width for _, width in sizes) > 150
    assert browser.run("return document.documentElement.scrollWidth") <= 360
    assert browser.run("return window.pwned === undefined && document.querySelectorAll('main img').length === 0")
    shown = browser.text("body")
    assert HOSTILE[0] in shown
    assert HOSTILE[2] in browser.text("h1")


def test_aligned_texts_stand_side_by_side_and_run_nothing(browser, aligned_page):
    browser.open(aligned_page)
    assert browser.complaints() == []
    assert browser.requests() == []
    assert browser.texts("#words caption") == [HOSTILE[2], "العربية"]
    left, right = browser.run(
        "return [...document.querySelectorAll('#words table')].map((at) => at.getBoundingClientRect().left)"
    )
    assert right > left + 100
    assert browser.texts("#words .error")
    charts = browser.run("return [...document.querySelectorAll('figure[data-chart]')].map((f) => f.dataset.chart)")
    assert {"time", "selection-bits", "selection-coherence", "selection-stability", "selection-spectrum"} <= set(charts)
    assert HOSTILE[1] in browser.text("#fit")
    assert browser.run("return window.pwned === undefined")


def test_no_word_of_a_table_is_broken(browser, page):
    browser.open(page, 360)
    broken = browser.run(
        "return [...document.querySelectorAll('td bdi')].filter((at) => !at.textContent.includes(' ') &&"
        " at.textContent.length <= 16 && at.getClientRects().length > 1).map((at) => at.textContent)"
    )
    assert broken == []


@needs_axe
@pytest.mark.parametrize(
    ("file", "width", "dark"),
    [
        ("page", 1280, False), ("page", 1280, True), ("page", 360, False), ("signal_page", 360, True),
        ("aligned_page", 1280, False),
    ],
)  # fmt: skip
def test_axe_finds_no_serious_violation(browser, request, file, width, dark):
    browser.open(request.getfixturevalue(file), width, dark=dark)
    browser.driver.set_script_timeout(60)
    browser.run(AXE.read_text("utf-8") + ";window.axe = axe;")
    found = browser.driver.execute_async_script(
        "const done = arguments[arguments.length - 1];"
        "axe.run(document).then((found) => done(found.violations),"
        "  (error) => done([{id: String(error), impact: 'critical', nodes: []}]))"
    )
    serious = [
        (rule["id"], [node["html"][:200] for node in rule["nodes"][:3]])
        for rule in found
        if rule["impact"] in ("serious", "critical")
    ]
    assert serious == []
