import pytest

from polyad import LDA, DiscreteCCA, DiscreteICA, PolylingualLDA, SingleTopic
from polyad.datasets import make_lda
from polyad.engine import count_blocks, listening, write_shards
from polyad.io import fingerprint
from polyad.models.limits import FitPlan, MemoryLimitError, parse_size
from sharded import tiny_cuts

X = make_lda(200, 60, 3, length=40, prior=0.2, random_state=0).counts
MODELS = {"lda": LDA, "discrete ica": DiscreteICA, "single topic": SingleTopic}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore:These data")
def test_a_plan_beyond_the_limit_is_refused_before_the_work(name):
    passes = []
    with listening(lambda report: passes.append(report.name)), pytest.raises(MemoryLimitError) as error:
        MODELS[name](3).fit(X, memory_limit="10kB")
    assert "may have 10 kB. Index the corpus" in str(error.value)
    assert not {"_third_sums", "_pair_products", "em_step"} & set(passes)
    planned = MODELS[name](3).fit(X).diagnostics_.memory_bytes
    expected = fingerprint(MODELS[name](3).fit(X))
    assert fingerprint(MODELS[name](3).fit(X, memory_limit=planned)) == expected
    with pytest.raises(MemoryLimitError):
        MODELS[name](3).fit(X, memory_limit=planned - 1)


def test_aligned_texts_have_a_limit_too():
    with pytest.raises(MemoryLimitError, match=r"may have 10 kB\. Ask for fewer topics"):  # two have no index
        PolylingualLDA(3).fit([X, X[:, ::-1]], memory_limit="10kB")


def test_shards_are_not_to_be_indexed_again(tmp_path):
    with tiny_cuts(shard=800):
        shards = write_shards(count_blocks(X), tmp_path / "x")
        with pytest.raises(MemoryLimitError, match=r"kB\. Ask for fewer topics"):
            LDA(3).fit(shards, memory_limit="10kB")


@pytest.mark.parametrize("size", ["", "4 apples", "-1GB", "0", "GB"])
def test_sizes(size):
    with pytest.raises(ValueError, match="give a size such as"):
        parse_size(size)


def test_a_limit_that_nobody_would_keep_is_refused():
    with pytest.raises(ValueError, match="DiscreteCCA does not plan its memory"):
        DiscreteCCA(3).fit(X, X[:, ::-1], memory_limit="1GB")


def test_small_sizes_are_told_in_a_unit_that_shows_them():
    assert str(FitPlan(1, 1, 1, 816_000, 1.0)).startswith("816 kB of memory")
    with pytest.raises(MemoryLimitError, match=r"may have 10 kB\."):
        LDA(3).fit(X, memory_limit="10kB")
