"""Turns a cart into a paid order."""

from shop.payments import Payments
from shop.retry import with_retries
from shop.stock import Stock


class Checkout:
    def __init__(self, catalog, stock: Stock, payments: Payments, mailer):
        self.catalog = catalog
        self.stock = stock
        self.payments = payments
        self.mailer = mailer

    def pay(self, cart, customer):
        """Charges the customer, and tries again when the bank is slow."""
        amount = cart.total(self.catalog)
        with self.stock.reserved(cart):
            receipt = with_retries(lambda: self.payments.charge(customer, amount))
        self.mailer.send_receipt(customer, receipt)
        return receipt
