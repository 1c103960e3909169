"""Topic models of one view of counts."""
