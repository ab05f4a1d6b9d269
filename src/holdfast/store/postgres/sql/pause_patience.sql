-- pause_patience: who enqueues waits behind us while we wait for the lock, so we do not wait long, but try again.
set local lock_timeout = '200ms'
