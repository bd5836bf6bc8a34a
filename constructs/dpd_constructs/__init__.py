"""CDK constructs, one concept each.

The folder above this package has no `__init__.py`, and must never get one: it would hide the
package `constructs` of PyPI, on which the CDK stands.
"""
