#!/usr/bin/env python3
"""Draws offers.csv, a table as a shop keeps it: 50,000 rows of timestamp, store, customer, offer, clicked, amount, propensity.
Who chose the offers looked at the customer: members, who buy more whatever they are offered, mostly got the free coffee. So
the plain means say "free coffee", and the propensities, which are right, say "two for one", which is the truth.

The same bytes at every call. usage: newcomer_table.py [FILE]
"""
import csv
import datetime
import random
import sys

ROWS = 50000
STORES = ["Aachen", "Bonn", "Celle", "Dresden", "Essen"]
LIFT = {"5 euros off": 0.03, "free coffee": 0.01, "newsletter": 0.0, "two for one": 0.07}
MEMBERS = 0.4  # of the customers
CLICKS = {True: 0.30, False: 0.06}  # of members and others, before an offer lifts them
POLICY = {True: {"5 euros off": 0.2, "free coffee": 0.6, "newsletter": 0.1, "two for one": 0.1},
          False: {"5 euros off": 0.1, "free coffee": 0.1, "newsletter": 0.4, "two for one": 0.4}}
BEST_PLAIN, BEST = "free coffee", "two for one"


def rows(chance):
    begin = datetime.datetime(2026, 3, 2, 8, 0)
    for number in range(ROWS):
        store = chance.randrange(len(STORES))
        customer = chance.randrange(9000)
        is_member = customer < MEMBERS * 9000
        policy = POLICY[is_member]
        offer = chance.choices(list(policy), policy.values())[0]
        clicked = chance.random() < CLICKS[is_member] + LIFT[offer] + 0.005 * store
        amount = min(60.0, chance.gammavariate(4.0, 8.0)) if clicked else 0.0
        at = begin + datetime.timedelta(seconds=53 * number)
        yield at.isoformat(), STORES[store], f"c{customer:04}", offer, int(clicked), f"{amount:.2f}", policy[offer]


def draw(path):
    with open(path, "w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["timestamp", "store", "customer", "offer", "clicked", "amount", "propensity"])
        writer.writerows(rows(random.Random(26)))


if __name__ == "__main__":
    draw(sys.argv[1] if len(sys.argv) > 1 else "offers.csv")
