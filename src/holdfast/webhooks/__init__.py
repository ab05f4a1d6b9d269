"""Signed delivery to addresses of others.

`app.webhooks` sends; what stands here is for those who describe a receiver, and for those who are one.
"""

from holdfast.model.errors import BadSignature
from holdfast.webhooks.endpoint import Endpoint
from holdfast.webhooks.signing import Verified, new_secret, verify, verify_sha256

__all__ = ["BadSignature", "Endpoint", "Verified", "new_secret", "verify", "verify_sha256"]
