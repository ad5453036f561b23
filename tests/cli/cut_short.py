#!/usr/bin/env python3
"""A run whose horizon ends before its protocol has decided names no winner, of any family: not in JSON, not in the table, not on the page.
What seems best to sites that are still learning is no answer.

usage: cut_short.py      $TACIT_PROGRAM is asked
"""
import json
import sys

from program import run, tacit

SOUND = "privacy={mode: sound, epsilon: 1}"
PAPER = "privacy={mode: paper}"
NONE = "privacy={mode: none}"
VOTES = "protocol={kind: votes, epsilon: 0.02, "
# so short that nothing can be known; of some that is the shortest horizon that is allowed
CUT = {
    "votes": ((PAPER, VOTES + "subroutine: ser3, eta: 0.9}", 300), (PAPER, VOTES + "subroutine: lucb, eta: 0.9}", 300),
              (PAPER, VOTES + "subroutine: ser3, sharing: none}", 300), (PAPER, VOTES + "subroutine: ser3, sharing: all}", 300),
              (SOUND, VOTES + "sharing: sums}", 100), (SOUND, VOTES + "votes: cheapest}", 3000)),
    "elimination": ((SOUND, "protocol={kind: elimination}", 200), (SOUND, "protocol={kind: elimination, bounds: exact, confidence: 0.95}", 100)),
    "phased-index": ((SOUND, "protocol={kind: phased-index}", 30), (SOUND, "protocol={kind: phased-index, confidence: 0.95}", 60)),
    # never sure: they name what they estimate best, if they have seen every arm and one is better than the others
    "index": ((NONE, "protocol={kind: index, index: ucb1}", 1), (NONE, "protocol={kind: index, index: kl-ucb, sharing: pooled}", 1),
              (NONE, "protocol={kind: index, index: uniform}", 1)),
    "gossip-ucb": ((NONE, "protocol={kind: gossip-ucb}", 2), (NONE, "protocol={kind: gossip-ucb, release: doubling}", 6)),
}
NETWORKS = {"votes": "broadcast", "elimination": "star", "phased-index": "star", "gossip-ucb": "ring"}


def played(folder, family, settings, *more):
    words = [f"--set={setting}" for setting in settings]
    if family in NETWORKS:
        words.append(f"--set=network={{kind: {NETWORKS[family]}}}")
    return tacit("run", "file.yaml", "--quiet", *words, *more, folder=folder)


def names_no_winner(folder, family, privacy, protocol, horizon):
    settings = (privacy, protocol, f"horizon={horizon}")
    told = json.loads(played(folder, family, settings, "--json", "--out=out"))
    answer = told["answer"]
    assert answer["decided"] is False and len(answer["arms"]) >= 2 and "decided for" not in answer["sentence"], (settings, answer)
    assert answer["sentence"].startswith("undecided"), answer
    table = played(folder, family, settings)
    assert answer["sentence"] in table and "decided for" not in table, table
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    section = page[page.index('id="answer"'):]
    section = section[:section.index("</section>")]
    assert "ndecided" in section and "decided for" not in section, section


def says_so_when_it_has(folder, family, privacy, protocol, horizon):
    answer = json.loads(played(folder, family, (privacy, protocol, f"horizon={horizon}"), "--json"))["answer"]
    assert answer["decided"] is True and answer["arms"] == ["arm 1"], answer


# The same protocols with time enough.
ENOUGH = {
    "votes": ((PAPER, "protocol={kind: votes, epsilon: 0.2, subroutine: ser3, eta: 0.9}", 1000000),),
    "elimination": ((NONE, "protocol={kind: elimination}", 20000),),
    "phased-index": ((NONE, "protocol={kind: phased-index, confidence: 0.95}", 20000),),
    "index": ((NONE, "protocol={kind: index, index: ucb1}", 3000),),
    "gossip-ucb": ((NONE, "protocol={kind: gossip-ucb}", 3000), (NONE, "protocol={kind: gossip-ucb, release: doubling}", 3000)),
}


FILES = {"means.csv": "0.3,0.8,0.5\n",
         "file.yaml": "name: cut\nseed: 5\nruns: 20\nhorizon: 100\nagents: 6\nenvironment: {kind: bernoulli, means: means.csv}\n"
                      "protocol: {kind: elimination}\nprivacy: {mode: none}\n"}


if __name__ == "__main__":
    sys.exit(run([(check, family, *case) for table, check in ((CUT, names_no_winner), (ENOUGH, says_so_when_it_has))
                  for family, cases in table.items() for case in cases], FILES))
