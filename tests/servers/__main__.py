"""`python -m tests.servers`: have the servers of the tests installed, before several processes want them at once."""

from __future__ import annotations

import os

from tests.servers import anvil, kubo, pgbouncer, postgres, rabbitmq, redis


def main() -> None:
    """A server that is named in the environment needs no installation."""
    if "HOLDFAST_TEST_POSTGRES" not in os.environ:
        postgres.programs()
    if redis.SETTING not in os.environ:
        redis.installed()
    if rabbitmq.SETTING not in os.environ:
        rabbitmq.installed()
    pgbouncer.installed()
    anvil.installed()
    kubo.installed()


if __name__ == "__main__":
    main()
