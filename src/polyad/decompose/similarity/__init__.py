"""Joint diagonalisation by similarity: matrices that share eigenvectors which need not be orthogonal."""
