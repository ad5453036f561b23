"""A training federation on this machine (make live PROTOCOL=select): five sites with data of their own learn one model
in ten rounds; three of them are asked in each. No site's rows leave it: what leaves is noised soundly, and it is little
that has to leave for a model this small. The data are drawn here; nothing is loaded from anywhere."""
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

from federation import Federation

SITES = [f"site-{index}" for index in range(5)]
CLASSES, INPUTS, ROWS = 3, 4, 400
CENTRES = [(2, 0, 0, 1), (0, 2, 0, -1), (0, 0, 2, 0)]
ROUNDS, ASKED = 10, 3
BUDGET, ETA, CLIP = 60.0, 0.3, 1.5
SECONDS_MAX = 150


def draw_rows(dice, count):
    rows = []
    for _ in range(count):
        label = dice.randrange(CLASSES)
        rows.append([label] + [round(dice.gauss(centre, 0.8), 4) for centre in CENTRES[label]])
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def set_up(federation):
    numbers = CLASSES * (INPUTS + 1)
    federation.make_certificates()
    federation.write_broker()
    federation.write_coordinator(
        {"horizon": ROUNDS, "epsilon": BUDGET, "eta": ETA, "parameters": numbers, "clip": CLIP,
         "users_per_round": ASKED, "batches": 40, "deadline_s": 15}, protocol="select")
    for index, site in enumerate(SITES):
        (federation.folder / f"{site}.csv").write_text(draw_rows(random.Random(index), ROWS))
        federation.write_agent(
            site, {"epsilon": BUDGET, "budget": BUDGET, "range": [0, 1], "agents_max": 10, "rounds_max": ROUNDS,
                   "pulls_max": ROUNDS, "eta": ETA, "parameters": numbers}, protocol="select",
            training={"model": "logistic", "classes": CLASSES, "data": f"{site}.csv", "rate": 0.3})
    (federation.folder / "exam.csv").write_text(draw_rows(random.Random(99), 1000))
    for name in ("broker", "coordinator", *SITES):
        federation.start(name)


def watch(federation):
    started, shown = time.monotonic(), 0
    while True:
        status = federation.status()
        dead = [name for name, process in federation.processes.items() if process.poll() is not None]
        if dead:
            sys.exit(f"stopped: {dead}; see the logs in {federation.folder}")
        if time.monotonic() - started > SECONDS_MAX:
            sys.exit(f"stopped: not finished after {SECONDS_MAX} seconds; see the logs in {federation.folder}")
        if status and shown < status["epoch"] <= ROUNDS:
            shown = status["epoch"]
            asked = [site["name"] for site in status["sites"] if site["asked"]]
            print(f"{time.monotonic() - started:6.1f} s  round {shown}: {', '.join(asked)}", flush=True)
        sites = [federation.site_status(site) for site in SITES]
        if status and status["phase"] == "finished" and all(one and one["phase"] == "finished" for one in sites):
            return status["rounds"], time.monotonic() - started
        time.sleep(0.05)


def examine(federation):
    """How good the model is on new rows: {"accuracy", "loss", "rows"}."""
    said = subprocess.run([federation.tacit, "train", "--classes", str(CLASSES), "--data",
                           federation.folder / "exam.csv", "--examine",
                           federation.folder / "state-coordinator/model.f32"],
                          capture_output=True, check=True, text=True).stdout
    return json.loads(said)


def tell(federation, rounds, seconds):
    exam = examine(federation)
    print(f"\nModel: right on {exam['accuracy']:.1%} of {exam['rows']} new rows after {rounds} rounds in "
          f"{seconds:.1f} s\n")
    for site in SITES:
        ledger, state = federation.get(site, "/v1/ledger"), federation.site_status(site)
        print(f"{site}: spent {ledger['spent']:.3f} of {ledger['budget']:g} epsilon for its whole data set in "
              f"{len(ledger['releases'])} updates; {state['sent_bytes']:,} bytes in {state['sent_messages']} messages "
              f"left the site")
    return exam


def play(tacit):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tacit-live-"))
    federation = Federation(tacit, folder, "training", SITES, SITES)
    print(f"Five sites, {ROWS} rows each, drawn here; a budget of {BUDGET:g} epsilon for each site's data set.",
          flush=True)
    try:
        set_up(federation)
        rounds, seconds = watch(federation)
        exam = tell(federation, rounds, seconds)
    finally:
        federation.stop_all()
    shutil.rmtree(folder)
    return exam
