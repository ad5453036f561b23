#!/usr/bin/env python3
"""Fig. 1: the generalisation reward (8) over T_k/t for several beta, K = 10 users alike, 2 a round. The selection itself is
asked, through the Python package: user 0 takes part in T of 40 rounds. Writes fig1.csv and fig1.svg into DIRECTORY.

usage: PYTHONPATH=build-python/site fig1.py DIRECTORY
"""
import pathlib
import sys

from tacit import Selector

USERS, PER_ROUND, ROUNDS = 10, 2, 40
BETAS = [1.0, 1.5, 2.0, 3.0, 5.0]
COLOURS = ["#0b57a4", "#b3261e", "#1b7f3b", "#8a5a00", "#6b2fa0"]


def reward(beta, times):
    """g_0 after ROUNDS rounds, `times` of them with user 0; the others take turns."""
    selector = Selector([100] * USERS, users_per_round=PER_ROUND, beta=beta, latency_min=0.05, seed=1)
    others = 0
    for at in range(ROUNDS):
        users = [0] if at < times else []
        while len(users) < PER_ROUND:
            users.append(1 + others % (USERS - 1))
            others += 1
        selector.observe(users, [0.1] * PER_ROUND)
    return float(selector.scores()["generalization"][0])


def draw(curves):
    """x: 0 to 1 over 600 units; y: -1 to 1 over 300."""
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 400" font-family="sans-serif" font-size="13">',
             '<title>Generalisation reward (8) over the share of rounds</title>',
             '<path d="M60 20V340H680M60 180H680" fill="none" stroke="#888"/>',
             '<text x="330" y="380">T_k / t</text><text x="10" y="16">g_k</text>']
    for text, x, y in (("1", 40, 35), ("0", 40, 185), ("-1", 35, 335), ("0", 57, 356), ("0.2 = m/K", 150, 356), ("1", 656, 356)):
        lines.append(f'<text x="{x}" y="{y}">{text}</text>')
    for (beta, points), colour in zip(curves.items(), COLOURS):
        path = " ".join(f"{60 + 600 * x:.1f},{180 - 150 * y:.1f}" for x, y in points)
        lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        lines.append(f'<text x="600" y="{40 + 18 * BETAS.index(beta)}" fill="{colour}">beta {beta:g}</text>')
    return "\n".join([*lines, "</svg>", ""])


def main():
    folder = pathlib.Path(sys.argv[1])
    curves = {beta: [(times / ROUNDS, reward(beta, times)) for times in range(ROUNDS + 1)] for beta in BETAS}
    for beta, points in curves.items():
        for x, y in points:  # Eq. (8), by hand
            distance = PER_ROUND / USERS - x
            wanted = (1 if distance > 0 else -1) * abs(distance) ** beta
            if abs(y - wanted) > 1e-12:
                sys.exit(f"beta {beta}, T/t {x}: {y}, not {wanted}")
    folder.mkdir(parents=True, exist_ok=True)
    rows = ["share," + ",".join(f"beta_{beta:g}" for beta in BETAS)]
    rows += [",".join([f"{times / ROUNDS:g}"] + [f"{curves[beta][times][1]:.9g}" for beta in BETAS]) for times in range(ROUNDS + 1)]
    (folder / "fig1.csv").write_text("\n".join(rows) + "\n")
    (folder / "fig1.svg").write_text(draw(curves))


if __name__ == "__main__":
    main()
