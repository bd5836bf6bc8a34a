"""Typed models of the operator's InferenceEndpointConfig custom resource, version v1.

They say what the operator's own schema says, field by field, and no more; tests compare the two.
Nothing is gathered here: whoever needs one module does not load the others.
"""
