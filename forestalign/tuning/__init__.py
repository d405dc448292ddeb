"""Tuning of settings on a development set, by Bayesian optimisation (section 6.4)."""
