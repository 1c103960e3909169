"""Work, stages and rounds: the fraction, the time left and who is told."""

import logging

import pytest

from polyad.engine import Planned, expect, following, listening, one_round, stage, working
from polyad.engine.progress import tell


def passes(number, shards=1):
    for _ in range(number):
        for shard in range(shards):
            tell("work", shard + 1, shards, 0.0)


def followed(body):
    reports = []
    with following(reports.append), working("fit"):
        body()
    return reports


def assert_rises_to_one(reports):
    fractions = [report.fraction for report in reports]
    assert fractions == sorted(fractions)
    assert fractions[0] >= 0
    assert fractions[-1] == 1
    assert all(fraction < 1 for fraction in fractions[:-1])
    assert [report.event for report in reports].count("done") == 1


def test_a_fraction_by_stages_passes_and_shards():
    def body():
        expect({"moments": Planned(3, passes=2), "polish": Planned(1)})
        with stage("moments"):
            passes(2, shards=3)
        with stage("polish"):
            for number in (1, 2):
                with one_round(number, 2, passes=1) as found:
                    passes(1)
                    found.append(-7.0)

    reports = followed(body)
    assert_rises_to_one(reports)
    moved = [report.fraction for report in reports if report.stage == "moments" and report.event == "moved"]
    assert moved == pytest.approx([0.75 * part / 6 for part in range(1, 7)])
    rounds = [report for report in reports if report.event == "round"]
    assert [report.fraction for report in rounds] == pytest.approx([0.875, 0.99])
    assert [report.what for report in rounds] == [f"likelihood pass {number} of at most 2" for number in (1, 2)]
    assert all(report.objective == -7.0 for report in rounds)


@pytest.mark.parametrize("done", [0, 1, 5, 50])
def test_fewer_and_more_passes_than_planned(done):
    def body():
        expect({"moments": Planned(1, passes=5), "prior": Planned(1)})
        with stage("moments"):
            passes(done)
        with stage("prior"):
            passes(2)

    reports = followed(body)
    assert_rises_to_one(reports)
    [ended] = [report for report in reports if report.event == "ended" and report.stage == "moments"]
    assert ended.fraction == 0.5


def test_rounds_may_stop_early_and_passes_before_them_move_nothing():
    def body():
        expect({"polish": Planned(9), "prior": Planned(1)})
        with stage("polish"):
            passes(3)
            for number in (1, 2, 3):
                with one_round(number, 20, passes=2):
                    passes(2)
        with stage("prior"):
            pass

    reports = followed(body)
    assert_rises_to_one(reports)
    assert [report.fraction for report in reports[:4]] == [0, 0, 0, 0]
    assert next(report for report in reports if report.stage == "prior").fraction == 0.9


def test_work_without_a_plan_or_with_another_one_later():
    def body():
        with stage("read"):
            passes(3)
        with stage("unknown"):
            passes(3)
        expect({"read": Planned(1), "rest": Planned(1)})
        with stage("rest"):
            passes(1)
        expect({"read": Planned(1), "rest": Planned(1), "more": Planned(100)})  # the fraction waits, and does not fall
        with stage("more"):
            pass

    reports = followed(body)
    assert_rises_to_one(reports)
    assert all(report.seconds_left is None for report in reports if report.fraction == 0)
    assert all(report.seconds_left >= 0 for report in reports if report.fraction > 0)


def test_all_listeners_are_told():
    told = {"one": 0, "other": 0}

    def count(name):
        told[name] += 1

    with listening(lambda report: count("one")), listening(lambda report: count("other")):
        passes(2)
    passes(2)
    assert told == {"one": 2, "other": 2}


def test_stages_and_rounds_without_work_do_nothing(caplog):
    expect({"moments": Planned(1)})
    with caplog.at_level(logging.INFO, "polyad"), stage("moments"), one_round(1, 2, passes=1) as found:
        found.append(-1.0)
    [line] = caplog.messages
    assert line.startswith("polyad: pass 1 of at most 2, -1.0000 nats per token")


def test_work_that_fails_is_not_done():
    reports = []
    with pytest.raises(ZeroDivisionError), following(reports.append), working("fit"), stage("moments"):
        raise ZeroDivisionError
    assert [report.event for report in reports] == ["begun"]
    assert followed(lambda: None)[-1].fraction == 1


def test_who_begins_to_listen_late_is_told_the_same():
    fractions = []
    for from_the_start in (True, False):
        reports = []
        with working("fit"):
            expect({"moments": Planned(1, passes=4)})
            with stage("moments"):
                if from_the_start:
                    with following(lambda report: None):
                        passes(2, shards=2)
                else:
                    passes(2, shards=2)
                with following(reports.append):
                    passes(1, shards=2)
        fractions.append([report.fraction for report in reports])
    assert fractions[0] == fractions[1] == pytest.approx([0.625, 0.75])
