"""Reports of real corpora, with their sizes and times: ``make gallery`` writes them to gallery/.

    python benchmarks/gallery.py                 every page, and pictures of them where Chromium is installed
    python benchmarks/gallery.py dante ap        some of them
    python benchmarks/gallery.py --no-pictures   pages alone

The corpora lie beside the project in ../shared/data; a page whose corpus is not there is left out, and said so.
"""

import argparse
import gzip
import json
import resource
import sys
import time
from pathlib import Path

import numpy as np

from corpora import load, vocabulary
from polyad import ICA, LDA, PolylingualLDA, select_n_components
from polyad.corpus import CorpusSource, ReadOptions, make_corpus, read_corpus

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
OUT = ROOT / "gallery"

sys.path.insert(0, str(ROOT / "tests"))


def records(path):
    with gzip.open(DATA / path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def dante():
    """Divina Commedia, K=3: cantiche as groups, cantos in their order."""
    source = CorpusSource(DATA / "dante" / "divina_commedia.jsonl.gz")
    cantos = records("dante/divina_commedia.jsonl.gz")
    return LDA(3).fit(source), source, {
        "title": "Divina Commedia",
        "ids": [f"{canto['cantica']} {canto['canto']}" for canto in cantos],
        "dates": range(1, len(cantos) + 1),
        "groups": "cantica",
        "selection": select_n_components(source, range(2, 9)),
    }  # fmt: skip


def state_union():
    """State of the Union addresses, K=18, by year."""
    path = DATA / "state_union" / "state_union.jsonl.gz"
    source = CorpusSource(path, reading=ReadOptions(id_column="name"))
    return LDA(18).fit(source), source, {"title": "State of the Union addresses", "dates": "name"}


def ap():
    """Associated Press, K=50: counts without texts."""
    reading = ReadOptions(format="ldac", vocabulary_file=str(DATA / "ap" / "vocab.txt"))
    corpus = read_corpus(DATA / "ap" / "ap.dat.gz", reading=reading)
    return LDA(50).fit(corpus), corpus, {"title": "Associated Press"}


def canada():
    """Acts of Canada in English and French, K=20."""
    path = DATA / "canada_acts_en_fr" / "sections.jsonl.gz"
    views = [CorpusSource(path, reading=ReadOptions(text_column=language)) for language in ("en", "fr")]
    corpora = [view.corpus() for view in views]
    return PolylingualLDA(20).fit(corpora), corpora, {
        "title": "Acts of Canada",
        "view_names": ["English", "Français"],
        "texts": views,
        "ids": corpora[0].ids,
    }  # fmt: skip


def voices():
    """Six voices, mixed and separated."""
    with np.load(DATA / "speech" / "sources_8k.npz", allow_pickle=False) as found:
        voices = np.asarray(found[found.files[0]], dtype=np.float64)
    voices = voices if voices.shape[0] > voices.shape[1] else voices.T
    mixed = voices @ np.random.default_rng(0).normal(size=(voices.shape[1], voices.shape[1]))
    return ICA(voices.shape[1]).fit(mixed), mixed, {"title": "Six voices", "rate": 8000.0}


def europarl():
    """European Parliament, K=50: 170,374 documents."""
    counts, words = load("europarl_en"), vocabulary("europarl_en")
    words = [word for word in words if word]
    corpus = make_corpus(counts, words)
    return LDA(50).fit(corpus), corpus, {"title": "European Parliament"}


PAGES = {
    "dante": (dante, "dante"),
    "state_union": (state_union, "state_union"),
    "ap": (ap, "ap"),
    "canada": (canada, "canada_acts_en_fr"),
    "voices": (voices, "speech"),
    "europarl": (europarl, "europarl_en_fr"),
}


def pictures(path):
    """Take pictures of a page at two widths, in light and dark, and print it."""
    from browser import chromium, started

    if chromium() is None:
        print("  no pictures: Chromium is not installed (make browser)")
        return
    with started() as browser:
        for width in (1280, 360):
            for dark in (False, True):
                browser.open(path, width, dark=dark)
                height = browser.run("return document.documentElement.scrollHeight")
                name = f"{path.stem}-{width}{'-dark' if dark else ''}.png"
                browser.picture(path.with_name(name), width, min(height, 12_000))
        browser.open(path)
        browser.printed(path.with_suffix(".pdf"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", choices=[[], *PAGES])
    parser.add_argument("--no-pictures", action="store_true")
    arguments = parser.parse_args()
    OUT.mkdir(exist_ok=True)
    print(f"{'page':<12} {'seconds':>8} {'of CPU':>8} {'MB':>6} {'peak MB':>8}")
    for name in arguments.pages or PAGES:
        make, folder = PAGES[name]
        if not (DATA / folder).is_dir():
            print(f"{name:<12} left out: {folder} is not in {DATA}")
            continue
        model, X, options = make()
        path = OUT / f"{name}.html"
        started, before = time.perf_counter(), time.process_time()
        model.report(path, X, **options)
        seconds, work = time.perf_counter() - started, time.process_time() - before
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        print(f"{name:<12} {seconds:8.2f} {work:8.2f} {path.stat().st_size / 1e6:6.2f} {peak:8.0f}", flush=True)
        if not arguments.no_pictures:
            pictures(path)


if __name__ == "__main__":
    main()
