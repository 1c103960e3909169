"""What the models that find factors or sources share."""

from typing import Any, ClassVar

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from polyad.models.saving import SavedModel
from polyad.models.showing import ShownModel
from polyad.models.views.diagnostics import FactorDiagnostics


class FactorModel(SavedModel, ShownModel, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the models whose ``transform`` estimates factors; not a model by itself."""

    has_topics: ClassVar[bool] = False
    n_views: ClassVar[int] = 1

    components_: Any
    diagnostics_: FactorDiagnostics
    n_features_in_: int

    @property
    def n_iter_(self) -> int:
        """Sweeps or iterations of the diagonaliser; of likelihood steps where these came last."""
        return self.diagnostics_.n_iter

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)
