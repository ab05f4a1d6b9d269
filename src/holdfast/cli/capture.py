"""`holdfast capture`: the pipeline's own commands, loaded when they are called. The one place that leads to it."""

from __future__ import annotations

from importlib import import_module

from holdfast.cli.tree import Family

# By name: the import direction stays what it is, and a Holdfast without pipelines works.
command = import_module("holdfast_pipelines.capture.cli").build(Family)
