"""All experiments, in the order of the papers."""

import cca_synthetic
import dica_concentration
import dica_diagonalisers
import dica_heldout
import dica_moments
import spectral_recovery
import svtd_estimators
import svtd_recovery
import svtd_texts
import thesis_ica
from lab import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (
    dica_diagonalisers.EXPERIMENT,
    dica_moments.EXPERIMENT,
    dica_heldout.EXPERIMENT,
    dica_concentration.EXPERIMENT,
    svtd_estimators.EXPERIMENT,
    svtd_recovery.EXPERIMENT,
    svtd_texts.EXPERIMENT,
    cca_synthetic.EXPERIMENT,
    cca_synthetic.SENSITIVITY,
    spectral_recovery.EXPERIMENT,
    thesis_ica.EXPERIMENT,
)
