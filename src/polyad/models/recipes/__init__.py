"""The steps of fits as functions on sources: what several estimators share, without their parameters and checks."""
