"""Customers and their addresses."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Address:
    street: str
    city: str
    country: str


@dataclass(frozen=True)
class Customer:
    name: str
    email: str
    card: str
    address: Address

    def is_abroad(self, home="NL"):
        return self.address.country != home
