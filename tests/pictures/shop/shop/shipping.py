"""What it costs to send a parcel."""

from shop.customers import Customer

HOME = 495
ABROAD = 1295
FREE_FROM = 5000


def cost(customer: Customer, amount):
    if amount >= FREE_FROM:
        return 0
    return ABROAD if customer.is_abroad() else HOME


def label(customer: Customer):
    address = customer.address
    return f"{customer.name}\n{address.street}\n{address.city}, {address.country}"
