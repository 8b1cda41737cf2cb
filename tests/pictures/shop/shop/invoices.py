"""Invoices as text."""

LINE = "{count:>4} x {sku:<20} {price:>8.2f}"


def render(cart, catalog):
    lines = []
    for line in cart.lines:
        price = catalog.price(line.sku) * line.count / 100
        lines.append(LINE.format(count=line.count, sku=line.sku, price=price))
    lines.append(f"Total: {cart.total(catalog) / 100:.2f}")
    return "\n".join(lines)
