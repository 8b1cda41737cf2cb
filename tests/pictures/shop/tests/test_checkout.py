import pytest

from shop.cart import Cart
from shop.catalog import Catalog
from shop.checkout import Checkout
from shop.stock import OutOfStock, Stock


def test_items_go_back_when_there_are_too_few():
    cart, stock = Cart(), Stock({"tea": 1})
    cart.add("tea", 2)
    with pytest.raises(OutOfStock):
        Checkout(Catalog({"tea": 350}), stock, None, None).pay(cart, None)
    assert stock.counts == {"tea": 1}
