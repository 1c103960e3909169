"""All experiments, in the order of the papers."""

import cca_bilingual
import cca_synthetic
import dica_concentration
import dica_diagonalisers
import dica_heldout
import dica_moments
import errata
import spectral_bound
import spectral_factors
import spectral_recovery
import spectral_views
import svtd_estimators
import svtd_recovery
import svtd_texts
import svtd_words
import thesis_ica
import thesis_open
from lab import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (
    dica_diagonalisers.EXPERIMENT,
    dica_moments.EXPERIMENT,
    dica_heldout.EXPERIMENT,
    dica_concentration.EXPERIMENT,
    svtd_estimators.EXPERIMENT,
    svtd_recovery.EXPERIMENT,
    svtd_texts.EXPERIMENT,
    svtd_words.EXPERIMENT,
    cca_synthetic.EXPERIMENT,
    cca_synthetic.SENSITIVITY,
    cca_bilingual.EXPERIMENT,
    spectral_recovery.EXPERIMENT,
    spectral_factors.EXPERIMENT,
    spectral_views.EXPERIMENT,
    spectral_bound.EXPERIMENT,
    thesis_ica.EXPERIMENT,
    *thesis_open.EXPERIMENTS,
    errata.EXPERIMENT,
)
