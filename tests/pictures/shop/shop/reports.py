"""Figures for the end of the month."""

from collections import Counter


def best_sellers(carts, limit=10):
    sold = Counter()
    for cart in carts:
        for line in cart.lines:
            sold[line.sku] += line.count
    return sold.most_common(limit)


def revenue(receipts):
    return sum(receipt.amount for receipt in receipts)


def by_country(orders):
    totals = Counter()
    for customer, amount in orders:
        totals[customer.address.country] += amount
    return totals
