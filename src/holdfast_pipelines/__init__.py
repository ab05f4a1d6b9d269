"""Applications on Holdfast's public API. Each pipeline is a package of its own, and none knows another."""
