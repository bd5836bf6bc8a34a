"""Fits the GPU constants of the step-time model to AIConfigurator's step times.

Prints the values that `dpd/planner/constants.yaml` holds. One least-squares fit of the relative
errors over all rows of `dpd/planner/aiconfigurator_steps.csv`: no row has a constant of its own.
"""

import numpy as np

from dpd.planner.constants import Constants, default_constants
from dpd.planner.step_grid import modelled_seconds, step_grid

FITTED = (
    "bf16_gemm_efficiency",
    "fp8_gemm_efficiency",
    "attention_efficiency",
    "kv_read_efficiency",
    "nvlink_efficiency",
    "all_reduce_latency",
    "kernel_seconds_per_layer",
)


def main() -> None:
    """Fit in the logarithm of the constants, by damped Gauss-Newton steps."""
    start = default_constants()
    logs = np.log([getattr(start, name) for name in FITTED])
    best = _errors(start, logs)
    damping = 1e-2
    for _ in range(60):
        jacobian = np.stack(
            [(_errors(start, logs + 1e-4 * unit) - best) / 1e-4 for unit in np.eye(len(logs))]
        ).T
        normal = jacobian.T @ jacobian
        step = np.linalg.solve(normal + damping * np.eye(len(logs)), -jacobian.T @ best)
        errors = _errors(start, logs + step)
        if errors @ errors < best @ best:
            logs, best, damping = logs + step, errors, damping / 3
        else:
            damping *= 5
    for name, value in zip(FITTED, np.exp(logs), strict=True):
        print(f"{name}: {value:.4g}")
    relative = np.exp(best) - 1
    print(f"mean absolute error {np.abs(relative).mean():.1%}, mean {relative.mean():+.1%}")


def _errors(
    start: Constants, logs: "np.typing.NDArray[np.float64]"
) -> "np.typing.NDArray[np.float64]":
    values = dict(zip(FITTED, np.exp(logs), strict=True))
    constants = start.model_copy(update=values)
    return np.array(
        [np.log(modelled_seconds(point, constants) / point.seconds) for point in step_grid()]
    )


if __name__ == "__main__":
    main()
