"""From text to words: languages, stop words, splitting, counting and the choice of a vocabulary."""
