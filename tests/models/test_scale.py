import pytest

from polyad import LDA
from polyad.datasets import make_gamma_poisson
from polyad.metrics import l1_error


@pytest.mark.slow
def test_fifty_topics_of_fifty_thousand_documents():
    sample = make_gamma_poisson(50_000, 10_000, 50, mean_length=200.0, prior=0.05, random_state=0)
    model = LDA(50).fit(sample.counts)
    assert l1_error(model.components_, sample.components) < 0.1  # the moments alone have 0.14
    assert model.diagnostics_.gap > 3, "fifty topics stand out"
