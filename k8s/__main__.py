"""Writes the manifests of one environment: `python -m k8s -c env=prod`."""

import argparse
from pathlib import Path

import cdk8s

from dpd.config import Environment
from dpd.errors import UserError, exit_on_user_error
from dpd.rules.gate import checked_environment
from k8s.dependencies import DependenciesChart
from k8s.endpoint import endpoint_charts, namespace


def manifests(environment: Environment) -> dict[str, list[object]]:
    """Return the manifests of an environment by file name, in the order to apply them."""
    app = cdk8s.App()
    files: dict[str, list[object]] = {}
    if environment.cluster.instance_groups:
        dependencies = DependenciesChart(app, "dependencies", environment=environment)
        files["00-hyperpod-dependencies.yaml"] = dependencies.to_json()
    for endpoint in environment.endpoints:
        charts = endpoint_charts(app, environment=environment, endpoint=endpoint)
        first, *others = charts.items()
        files[f"10-endpoint-{endpoint.name}.yaml"] = [namespace(endpoint), *first[1].to_json()]
        for part, chart in others:
            files[f"11-endpoint-{endpoint.name}-{part}.yaml"] = chart.to_json()
    return files


def write(environment: Environment, folder: Path) -> None:
    """Write one file per concern and remove those of endpoints that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    rendered = {
        name: cdk8s.Yaml.stringify(*documents) for name, documents in manifests(environment).items()
    }
    for stale in set(folder.glob("*.yaml")) - {folder / name for name in rendered}:
        stale.unlink()
    for name, text in rendered.items():
        (folder / name).write_text(text, encoding="utf-8")


def main() -> None:
    """Read `-c key=value` as the CDK's command line does, and write `dist/<env>/`."""
    parser = argparse.ArgumentParser(prog="python -m k8s", description=__doc__)
    parser.add_argument("-c", "--context", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--output", type=Path, default=Path(__file__).parents[1] / "dist")
    arguments = parser.parse_args()
    with exit_on_user_error():
        environment, _ = checked_environment(dict(map(_pair, arguments.context)))
        folder = arguments.output / environment.name
        try:
            write(environment, folder)
        except OSError as error:
            raise UserError(f"{folder}: cannot be written: {error.strerror}") from None
    print(f"Manifests written to {folder}")


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise UserError(f"-c {text}: no value; give -c {text}=VALUE")
    return key, value


if __name__ == "__main__":
    main()
