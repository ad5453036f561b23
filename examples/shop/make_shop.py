#!/usr/bin/env python3
"""Writes shop.csv: 20,000 offers of four coupons in five shops, as such files come: quotes, accents, CRLF, cells that are
empty. The same bytes at every call. usage: make_shop.py [FILE]"""
import csv
import datetime
import random
import sys

SHOPS = ["Aachen", "Besançon", "Köln", "Málaga", "Łódź"]
COUPONS = {"5 % off": 0.11, "free delivery": 0.16, "gift, wrapped": 0.13, 'two "for" one': 0.14}
ROWS = 20000
SEGMENTS = ["loyal", "new", "now and then"]
CUSTOMERS = 6000
OPEN_DAYS = 24  # from a Monday on; Sundays the shops are closed


def rows(chance):
    for number in range(ROWS):
        shop = chance.choice(SHOPS)
        coupon = chance.choice(list(COUPONS))
        bought = chance.random() < COUPONS[coupon] + 0.01 * SHOPS.index(shop)
        outcome = "yes" if bought else "no"
        if chance.random() < 0.01:
            coupon = ""  # the till did not say
        if chance.random() < 0.02:
            outcome = ""  # nobody knows
        customer = 1000 + number * 7919 % CUSTOMERS
        opened = number * OPEN_DAYS // ROWS
        day = datetime.date(2024, 5, 6) + datetime.timedelta(days=opened + opened // 6)
        yield number, shop, coupon, f"{chance.uniform(5, 80):.2f}", outcome, customer, SEGMENTS[customer % 3], day.isoformat()


def main(path):
    with open(path, "w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\r\n")
        writer.writerow(["offer", "shop", "coupon", "basket", "bought", "customer", "segment", "day"])
        writer.writerows(rows(random.Random(20)))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "shop.csv")
