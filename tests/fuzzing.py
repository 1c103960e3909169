"""Broken input by the thousand, in a process of limited memory: ``python fuzzing.py NAME INPUTS SEED FOLDER``.

Every input is read or refused in a sentence. Anything else is a failure, and printed with its traceback.
"""

import hashlib
import io
import json
import re
import resource
import sys
import traceback
import warnings
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
from scipy.linalg import LinAlgWarning

EXTREME = [
    b"0", b"-1", b"1", b"2147483647", b"2147483648", b"4294967296", b"9223372036854775807", b"99999999999999999999",
    b"1e308", b"nan", b"inf", b"-0.0", b"0.5", b"1e-320", b"null", b"true", b"[]", b"{}", b'""',
]  # fmt: skip
TOKENS = [
    b"\n", b"\r", b"\r\n", b"\0", b'"', b'""', b",", b"\t", b";", b":", b" ", b"\\", b"\xff", b"\xef\xbb\xbf",
    b"\xff\xfe", b"{", b"}", b"[", b"]", b"%", b"PK\x03\x04", b"PAR1", b"\x1f\x8b", b"\x28\xb5\x2f\xfd",
    b"\xed\xa0\x80",
    b"text", b"id",
]  # fmt: skip
MEGABYTES = 300
NUMBER = re.compile(rb"\d+")


def mutated(data, rng):
    """Change a sound file in a few places."""
    changed = bytearray(data)
    for _ in range(rng.integers(1, 5)):
        at = int(rng.integers(0, len(changed) + 1))
        length = int(rng.integers(1, 12))
        action = rng.integers(0, 8)
        if action == 0 and at < len(changed):
            changed[at] = int(rng.integers(0, 256))
        elif action == 1:
            del changed[at:]
        elif action == 2:
            changed[at:at] = TOKENS[rng.integers(len(TOKENS))] * int(rng.choice([1, 2, 1000]))
        elif action == 3:
            del changed[at : at + length]
        elif action == 4:
            changed[at:at] = changed[at : at + length] * int(rng.choice([1, 3, 300]))
        elif action == 5:
            changed[at : at + length] = rng.bytes(length)
        elif numbers := list(NUMBER.finditer(changed)):
            found = numbers[rng.integers(len(numbers))]
            changed[found.start() : found.end()] = EXTREME[rng.integers(len(EXTREME))]
    return bytes(changed)


def read_texts_and_counts(name, folder):
    """Return a function that reads one input in a format."""
    from polyad.corpus import TOPIC_WORDS, CorpusError, ReadOptions, TextOptions, read_blocks, read_corpus
    from polyad.corpus.formats.recognise import FORMATS
    from test_fuzz import PACKED, VALID

    pairs = TextOptions(stop_words="auto", ngrams=(1, 2))

    sound = list(PACKED.values()) if name == "packed" else [VALID[name]]
    change = forged_npz if name == "npz" else mutated
    file = folder / "input"
    (folder / "input.vocab.txt").write_text("a\nb\nc\n" if name == "npz" else "a\nb\nc\nd\n")

    def read(rng):
        data = sound[rng.integers(len(sound))]
        file.write_bytes(data if rng.random() < 0.05 else (change if rng.random() < 0.7 else mutated)(data, rng))
        chosen = name if name in FORMATS and rng.random() < 0.8 else None
        reading = ReadOptions(format=chosen, skip_bad=bool(rng.random() < 0.5))
        try:
            if rng.random() < 0.7:
                words = [None, None, TOPIC_WORDS, TextOptions(ngrams=(1, 2)), pairs][rng.integers(5)]
                corpus = read_corpus(file, words, reading=reading, n_jobs=1)
                assert corpus.counts.shape == (len(corpus.ids), len(corpus.vocabulary))
                assert corpus.report.reading.documents == len(corpus)
            else:
                blocks = read_blocks(file, TextOptions(), vocabulary=list("abcd"), reading=reading, documents=2)
                assert all(block.shape[1] == 4 and len(block) <= 2 for block in blocks)
        except CorpusError:
            return False
        return True

    return read


def forged_npz(data, rng):
    """Put something else into an array of a sparse matrix, so that all check sums hold."""
    with np.load(io.BytesIO(data)) as archive:
        arrays = {name: archive[name].copy() for name in archive.files}
    key = str(rng.choice(list(arrays)))
    strange = [0, 1, -1, 2, 3, 1000, 10**6, 2**31 - 1, 2**31, 2**62, -(2**40)]
    if key == "format":
        arrays[key] = np.array(rng.choice([b"csr", b"csc", b"coo", b"dia", b"bsr", b"lil", b"", b"xyz"]))
    else:
        wide = arrays[key].astype(rng.choice(["int64", "float64", "uint8", "float32"]))
        with np.errstate(over="ignore", invalid="ignore"):
            wide.flat[rng.integers(wide.size)] = np.array(rng.choice(strange)).astype(wide.dtype)
        arrays[key] = wide if rng.random() < 0.8 else np.resize(wide, rng.integers(0, 9))
    if rng.random() < 0.1:
        del arrays[str(rng.choice(list(arrays)))]
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def read_models(folder, golden):
    """Return a function that loads one broken or forged model and uses it; one of every class, or the golden one."""
    from polyad import ICA, LDA, DiscreteICA, NonGaussianCCA, PolylingualLDA, SingleTopic
    from polyad.corpus import TextOptions, count_words
    from polyad.io import ModelFileError, load, save

    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.dirichlet(np.full(2, 0.3), 60) @ rng.dirichlet(np.full(6, 0.3), 2) * 30)
    signals = rng.laplace(size=(200, 6)) @ rng.normal(size=(6, 6))
    words, options = list("abcdef"), TextOptions(stop_words=["the"], min_length=1)
    file = folder / "a.polyad"
    sound = []
    if golden:
        data = (Path(__file__).parent / "data" / "golden.polyad").read_bytes()
        few = np.arange(4 * 38).reshape(4, 38) % 3
        sound.append((data, lambda loaded: use_topics(loaded, count_words, few)))
        return reader_of(sound, file, load, ModelFileError)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in (LDA(2), LDA(2, background=True), DiscreteICA(2, normalize=False), SingleTopic(2)):
            save(model.fit(counts), file, vocabulary=words, text_options=options)
            sound.append((file.read_bytes(), lambda loaded: use_topics(loaded, count_words, counts)))
        save(PolylingualLDA(2).fit([counts, counts[:, ::-1]]), file)
        sound.append((file.read_bytes(), lambda loaded: loaded.transform([counts, None])))
        save(ICA(2).fit(signals), file)
        sound.append((file.read_bytes(), lambda loaded: loaded.transform(signals)))
        save(NonGaussianCCA(2).fit(signals[:, :3], signals[:, 3:]), file)
        sound.append((file.read_bytes(), lambda loaded: loaded.transform(signals[:, :3], signals[:, 3:])))

    return reader_of(sound, file, load, ModelFileError)


def reader_of(sound, file, load, refused):
    """Return a function that changes one of some sound models, loads it and uses it."""

    def read(rng):
        data, use = sound[rng.integers(len(sound))]
        file.write_bytes(mutated(data, rng) if rng.random() < 0.3 else forged(data, rng))
        try:
            loaded = load(file)
        except refused:
            return False
        with suppress(ValueError):  # a forged model may be one that fits no data
            use(loaded)
        return True

    return read


def use_topics(model, count_words, counts):
    """Use a model of topics as the command does."""
    shares = model.transform(counts)
    assert np.isfinite(shares).all()
    model.topics(3)
    model.score(counts)
    count_words(["a b the c d a"], model.text_options_, vocabulary=model.vocabulary_)


def forged(data, rng):
    """Put something else into the header or an array of a sound model file, and seal it again."""
    from polyad.io.header import checksum_of, fingerprint_of
    from polyad.io.plain import to_json

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(entries.pop("header.json"))
    if rng.random() < 0.5:
        key = str(rng.choice(list(header["arrays"])))
        array = np.load(io.BytesIO(entries[f"arrays/{key}.npy"]))
        strange = [0.0, 1.0, -1.0, 1e-320, 1e-40, 1e40, 1e300, np.nan, np.inf]
        if rng.random() < 0.5:
            array[..., rng.integers(array.shape[-1])] = rng.choice(strange)
        else:
            array.flat[rng.integers(array.size)] = rng.choice(strange)
        if rng.random() < 0.5 and np.isfinite(array).all() and (array.sum(axis=-1) > 0).all():
            with np.errstate(over="ignore", invalid="ignore"):
                array = array / array.sum(axis=-1, keepdims=True)
        out = io.BytesIO()
        np.save(out, np.ascontiguousarray(array))
        entries[f"arrays/{key}.npy"] = out.getvalue()
        header["arrays"][key]["sha256"] = hashlib.sha256(out.getvalue()).hexdigest()
    else:
        places = [(inner, key) for inner in walked(header) for key in inner]
        inner, key = places[rng.integers(len(places))]
        strange = [None, 0, -1, 1, 2, 10**6, 2**63, 1e300, 1e-320, 0.5, "", "auto", "english", [], {}, True, [1, 10**6]]
        inner[key] = strange[rng.integers(len(strange))]
    header["fingerprint"] = fingerprint_of(header)
    header["checksum"] = checksum_of(header)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, entry in {"header.json": to_json(header), **entries}.items():
            archive.writestr(name, entry)
    return out.getvalue()


def walked(value):
    """Return all objects in an object."""
    found = [value]
    for inner in value.values():
        if isinstance(inner, dict):
            found += walked(inner)
    return found


def limit_memory():
    with open("/proc/self/status") as status:
        held = next(int(line.split()[1]) for line in status if line.startswith("VmData")) << 10
    resource.setrlimit(resource.RLIMIT_DATA, (held + (MEGABYTES << 20),) * 2)


def main(names, n_inputs, seed, folder):
    """Try so many inputs of each of some formats, and print how many were read and refused, and what failed."""
    sys.path.insert(0, str(Path(__file__).parent / "corpus"))
    readers = {}
    for name in names.split(","):
        (place := Path(folder, name)).mkdir()
        is_model = name in ("model", "golden")
        readers[name] = read_models(place, name == "golden") if is_model else read_texts_and_counts(name, place)
    warnings.simplefilter("error", RuntimeWarning)
    warnings.simplefilter("ignore", UserWarning)
    warnings.simplefilter("ignore", LinAlgWarning)  # of a forged model: it is told, and that is all
    rng = np.random.default_rng(int(seed))
    for read in readers.values():
        for _ in range(10):
            read(rng)  # loads what is loaded once
    limit_memory()
    found = {name: tried(read, int(n_inputs), rng) for name, read in readers.items()}
    sys.stdout.write(json.dumps(found))


def tried(read, n_inputs, rng):
    """Return how many inputs were read and refused, and the first failures."""
    done, failures = {"read": 0, "refused": 0}, []
    for number in range(n_inputs):
        try:
            done["read" if read(rng) else "refused"] += 1
        except BaseException:
            failures.append(f"input {number}\n{traceback.format_exc()}")
            if len(failures) == 3:
                break
    return {**done, "failures": failures}


if __name__ == "__main__":
    main(*sys.argv[1:])
