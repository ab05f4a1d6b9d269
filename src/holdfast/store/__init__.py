"""Where jobs live. `port` states the promises; each folder keeps them on one database."""
