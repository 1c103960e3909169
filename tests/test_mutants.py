"""Every mutant of ``make mutants`` has its place in the source, and the tests that must kill it are there."""

from pathlib import Path

import pytest

from mutants import MUTANTS, ROOT


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_has_one_place_and_its_tests(mutant):
    text = (ROOT / "src" / "polyad" / mutant.file).read_text()
    assert text.count(mutant.before) == 1
    assert mutant.after != mutant.before
    for name in mutant.tests.split():
        path, _, test = name.partition("::")
        assert f"def {test}" in Path(ROOT / path).read_text()


def test_mutants_have_names_of_their_own():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) > 40
