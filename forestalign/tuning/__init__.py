"""Tuning of settings on a development set, by Bayesian optimisation (section 6.4).

- `parameters`: what is searched, and what is maximised
- `trials`: what a trial measures, and the optimisation, recorded and resumable
- `trial_table`: what is shown of it
"""

from forestalign.tuning.parameters import DEFAULT_PARAMETERS, Parameter, parse_objective, parse_parameter
from forestalign.tuning.trial_table import plot_convergence, settings_block, table_head, table_row
from forestalign.tuning.trials import Trial, TuningPlan, best_trial, run_trials

__all__ = [
    "DEFAULT_PARAMETERS",
    "Parameter",
    "Trial",
    "TuningPlan",
    "best_trial",
    "parse_objective",
    "parse_parameter",
    "plot_convergence",
    "run_trials",
    "settings_block",
    "table_head",
    "table_row",
]
