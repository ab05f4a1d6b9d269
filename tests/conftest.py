from __future__ import annotations

import signal

from hypothesis import settings

settings.register_profile("house", deadline=None)  # a busy machine is no fault of the code
settings.load_profile("house")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background; what the tests start must heed it
    signal.signal(signal.SIGINT, signal.default_int_handler)
