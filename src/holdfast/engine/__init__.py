"""The verbs, cut by who may call them. Each is a plain function of an open transaction; the desk runs them."""
