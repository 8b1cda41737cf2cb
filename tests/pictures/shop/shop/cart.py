"""The items a customer wants to buy."""

from dataclasses import dataclass, field

from shop.catalog import Catalog


@dataclass
class Line:
    sku: str
    count: int


@dataclass
class Cart:
    lines: list[Line] = field(default_factory=list)

    def add(self, sku, count=1):
        for line in self.lines:
            if line.sku == sku:
                line.count += count
                return
        self.lines.append(Line(sku, count))

    def remove(self, sku):
        self.lines = [line for line in self.lines if line.sku != sku]

    def total(self, catalog: Catalog):
        return sum(catalog.price(line.sku) * line.count for line in self.lines)
