"""How many of each product are in the warehouse."""

import contextlib


class OutOfStock(Exception):
    pass


class Stock:
    def __init__(self, counts):
        self.counts = dict(counts)

    def take(self, sku, count):
        if self.counts.get(sku, 0) < count:
            raise OutOfStock(sku)
        self.counts[sku] -= count

    def put_back(self, sku, count):
        self.counts[sku] = self.counts.get(sku, 0) + count

    @contextlib.contextmanager
    def reserved(self, cart):
        """Holds the items of a cart, and puts them back when the payment fails."""
        for line in cart.lines:
            self.take(line.sku, line.count)
        try:
            yield
        except Exception:
            for line in cart.lines:
                self.put_back(line.sku, line.count)
            raise
