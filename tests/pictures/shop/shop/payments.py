"""Talks to the bank."""

import uuid


class PaymentTimeout(Exception):
    """The bank did not answer in time. It may have moved the money."""


class Payments:
    def __init__(self, bank):
        self.bank = bank

    def charge(self, customer, amount):
        """Moves money from a customer to the shop."""
        key = uuid.uuid4().hex
        return self.bank.post("/charges", card=customer.card, amount=amount, idempotency_key=key)

    def refund(self, receipt):
        return self.bank.post("/refunds", charge=receipt.charge)
