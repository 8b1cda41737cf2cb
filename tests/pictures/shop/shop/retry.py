"""Tries again when a service is slow."""

import time

from shop.payments import PaymentTimeout

ATTEMPTS = 3


def with_retries(action, attempts=ATTEMPTS, pause=0.5):
    """Runs an action until it succeeds, with growing pauses."""
    for attempt in range(attempts):
        try:
            return action()
        except PaymentTimeout:
            if attempt + 1 == attempts:
                raise
            time.sleep(pause * 2**attempt)
