"""How others learn of a change. A signal is a hint, never trusted: without it everything works by polling."""
