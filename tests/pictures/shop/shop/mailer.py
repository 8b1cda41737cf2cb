"""Mail to customers."""

RECEIPT = "Thank you. You paid {amount} for order {order}."


class Mailer:
    def __init__(self, transport):
        self.transport = transport

    def send_receipt(self, customer, receipt):
        text = RECEIPT.format(amount=receipt.amount, order=receipt.order)
        self.transport.send(customer.email, "Your receipt", text)
