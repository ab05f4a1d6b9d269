"""How fast Holdfast is on this machine: its engine against the bare database, and the whole against its peers."""
