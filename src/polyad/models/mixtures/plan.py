"""What the steps of a mixture's fit should cost, for the bar and the time left: in passes over the data."""

from polyad.engine.progress import Planned

USUAL_PASSES = 40  # of likelihood: most fits end long before they must


def mixture_plan(max_iter: int) -> dict[str, Planned]:
    """Return the plan of a fit with so many passes of likelihood at most."""
    return {
        "read": Planned(2.0, passes=2),
        "moments": Planned(6.0, passes=6),
        "polish": Planned(float(min(max_iter, USUAL_PASSES))),
    }
