"""Composition root: read the environment, build its stacks, synthesize."""

import gc
import sys
from pathlib import Path

# The folder `constructs` is a source root: PyPI's package of that name must stay the one found.
sys.path.append(str(Path(__file__).resolve().parent / "constructs"))

# A process of seconds: collecting garbage would cost it a tenth of its time.
gc.disable()

import aws_cdk as cdk

from dpd.config import load_environment
from dpd.errors import exit_on_user_error
from stacks import build_environment

with exit_on_user_error():
    app = cdk.App()
    build_environment(app, environment=load_environment(app.node.get_all_context()))
    app.synth()
