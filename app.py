"""Composition root: read the environment, build its stacks, synthesize."""

import gc
import os
import sys
from importlib import import_module
from pathlib import Path
from threading import Thread

# The folder `constructs` is a source root: PyPI's package of that name must stay the one found.
sys.path.append(str(Path(__file__).resolve().parent / "constructs"))

# A process of two seconds, in Python and in Node: collecting garbage would cost it a sixth of them.
gc.disable()
os.environ.setdefault("NODE_OPTIONS", "--max-semi-space-size=64")
# Node starts for a quarter of a second, and Python would wait for it: the configuration loads then.
Thread(target=import_module, args=("dpd.rules.gate",)).start()

import aws_cdk as cdk

from dpd.errors import exit_on_user_error
from dpd.rules.gate import checked_environment
from stacks import build_environment

with exit_on_user_error():
    app = cdk.App(analytics_reporting=False, tree_metadata=False)
    environment, warnings = checked_environment(app.node.get_all_context())
    build_environment(app, environment=environment, warnings=warnings)
    app.synth()
    gc.freeze()  # or the interpreter would collect everything once, at its end
