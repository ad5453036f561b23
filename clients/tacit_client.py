"""Talks to the agent of your site: asks which arm to play, reports what it brought. One file, standard library only.

    from tacit_client import Client

    site = Client("/run/tacit/agent.sock")            # or "http://127.0.0.1:8080"
    decision = site.decide(unit="patient-0815")
    site.reward(decision, 0.7)
    print(site.result()["winner"])

Each decision carries a key, made here where you give none, so asking again after a lost answer brings the same decision
and not a second one; a reward that is said twice counts once. Hence what cannot be answered just now (no connection,
429, 503) is asked again, with growing pauses, for `patience_s` seconds; then Unreachable is raised. Whatever the agent
refuses for good raises Refused, with its words. Not for several threads at once: make a Client for each.
"""
import collections
import dataclasses
import http.client
import json
import math
import numbers
import random
import socket
import time
import urllib.parse
import uuid

BATCH_MAX = 1000  # of one request
AGAIN = (429, 503)
TOO_LARGE = 413


class Refused(Exception):
    """The agent says no, and would say it again. `code`: of HTTP, or None within a batch and where nobody was asked."""

    def __init__(self, text, code=None):
        super().__init__(text)
        self.code = code


class Unreachable(Exception):
    """Nobody answered in time. What was asked may have been done: ask again with the same key."""


@dataclasses.dataclass(frozen=True)
class Decision:
    """What to play. `kind`: planned (its reward is waited for), exploit, committed, chosen or early."""
    id: str
    arm: int
    name: str
    kind: str
    key: str
    model: object = None  # of protocols that choose by contexts, as the next
    probability: object = None


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _pieces(items):
    items = list(items)
    return [items[at:at + BATCH_MAX] for at in range(0, len(items), BATCH_MAX)]


class Client:
    def __init__(self, address, patience_s=60.0, timeout_s=10.0):
        self._address, self._patience_s, self._timeout_s = str(address), patience_s, timeout_s
        self._connection = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.disconnect()

    def disconnect(self):
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    # Decisions and rewards

    def decide(self, unit=None, key=None, unavailable=None, contexts=None):
        """One decision. unit: whoever is to keep an arm; unavailable: arms that cannot be played now, by name or
        number; contexts: a vector an arm, where the protocol chooses by them."""
        request = _request(unit, key, unavailable, contexts)
        return _decision(self._ask("POST", "/v1/decisions", request), request["key"])

    def decide_many(self, requests):
        """A list of decisions, in order. requests: their number, or a list of dictionaries of the arguments of decide.
        In place of one that is refused stands Refused, not raised: the others are made all the same. One that cannot
        be made just now (too many are open, say) is among them."""
        if isinstance(requests, int):
            requests = [{}] * requests
        made = []
        for piece in _pieces(_request(**one) for one in requests):
            made += self._decide_piece(piece)
        return made

    def _decide_piece(self, piece):
        """What is more than a body may have is asked for in halves."""
        try:
            answers = self._ask("POST", "/v1/decisions/batch", {"requests": piece})["decisions"]
        except Refused as refusal:
            if refusal.code != TOO_LARGE or len(piece) == 1:
                raise
            half = len(piece) // 2
            return self._decide_piece(piece[:half]) + self._decide_piece(piece[half:])
        return [Refused(answer["error"]) if "error" in answer else _decision(answer, request["key"])
                for answer, request in zip(answers, piece, strict=True)]

    def reward(self, decision, value):
        """decision: it, or its id. value: a finite number, or it is Refused before anybody is asked. Returns accepted,
        repeated or late: a late one enters nothing."""
        return self._ask("POST", "/v1/rewards", _reward(decision, value))["status"]

    def reward_many(self, pairs):
        """pairs: (decision or id, value). A list of what became of each, in order; Refused in place of one that is."""
        wanted = [_reward_or_refused(decision, value) for decision, value in pairs]
        said = []
        for piece in _pieces(one for one in wanted if not isinstance(one, Refused)):
            answers = self._ask("POST", "/v1/rewards/batch", {"rewards": piece})["rewards"]
            said += [Refused(answer["error"]) if "error" in answer else answer["status"] for answer in answers]
        answers = iter(said)
        return [one if isinstance(one, Refused) else next(answers) for one in wanted]

    def rewards(self, count=100, seconds=1.0):
        """Rewards that are handed in together: see Rewards."""
        return Rewards(self, count, seconds)

    def close(self, decision):
        """It will never have a reward: its place is given out again."""
        return self._ask("DELETE", f"/v1/decisions/{_id(decision)}")["status"]

    # Looking

    def result(self):
        """Arms, best first, with what is known of their means; decided or not, and since when."""
        return self._ask("GET", "/v1/result")

    def status(self):
        return self._ask("GET", "/v1/status")

    def ledger(self):
        return self._ask("GET", "/v1/ledger")

    def statement(self):
        return self._ask("GET", "/v1/statement", is_text=True)

    # Asking

    def _connect(self):
        parts = urllib.parse.urlsplit(self._address)
        if parts.scheme == "http":
            return http.client.HTTPConnection(parts.hostname, parts.port or 80, timeout=self._timeout_s)
        return _UnixConnection(self._address.removeprefix("unix:"), self._timeout_s)

    def _call(self, method, path, body):
        """One try; whatever goes wrong with the line is raised."""
        if self._connection is None:
            self._connection = self._connect()
        self._connection.request(method, path, None if body is None else json.dumps(body, allow_nan=False),
                                 {"Content-Type": "application/json"})
        answer = self._connection.getresponse()
        return answer.status, answer.read().decode()

    def _ask(self, method, path, body=None, is_text=False):
        """Tries until there is an answer, as long as the patience lasts."""
        end = time.monotonic() + self._patience_s
        pause_s, why = 0.05, ""
        while True:
            try:
                code, text = self._call(method, path, body)
                if code == 200:
                    return text if is_text else json.loads(text)
                why = _words(text)
                if code not in AGAIN:
                    raise Refused(why, code)
            except (OSError, http.client.HTTPException, json.JSONDecodeError) as trouble:
                why = str(trouble) or type(trouble).__name__
                self.disconnect()
            if time.monotonic() + pause_s > end:
                raise Unreachable(f"{method} {path}: {why}")
            time.sleep(pause_s * random.uniform(0.5, 1))
            pause_s = min(2 * pause_s, 5.0)


class Rewards:
    """Rewards that are handed in together: when `count` of them have come, when one comes `seconds` after the first, and
    at the end of a `with` block. Those that are refused are kept in `refused`, as (id, words). What is here and not
    handed in is lost with the program: the agent gives its place out again."""

    def __init__(self, client, count, seconds):
        self._client, self._count, self._seconds = client, count, seconds
        self._waiting, self._since = [], 0.0
        self.refused, self.counts = [], collections.Counter()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.flush()

    def add(self, decision, value):
        """Raises what flush raises; the reward is kept then."""
        if not self._waiting:
            self._since = time.monotonic()
        self._waiting.append((_id(decision), value))
        if len(self._waiting) >= self._count or time.monotonic() - self._since >= self._seconds:
            self.flush()

    def flush(self):
        """If nobody answers, they are kept for the next time."""
        for (name, _), said in zip(self._waiting, self._client.reward_many(self._waiting), strict=True):
            if isinstance(said, Refused):
                self.refused.append((name, str(said)))
            else:
                self.counts[said] += 1
        self._waiting = []


# With a key, which stays the same however often it is asked.
def _request(unit=None, key=None, unavailable=None, contexts=None):
    given = {"unit": unit, "unavailable": unavailable, "contexts": contexts}
    return {"key": key or uuid.uuid4().hex, **{name: value for name, value in given.items() if value is not None}}


def _decision(answer, key):
    return Decision(answer["id"], answer["arm"], answer["name"], answer["kind"], key, answer.get("model"),
                    answer.get("probability"))


def _id(decision):
    return decision.id if isinstance(decision, Decision) else str(decision)


def _reward(decision, value):
    """What is to be sent. A number of another library's is one, too; a truth value is none."""
    try:
        number = float(value) if isinstance(value, numbers.Real) and not isinstance(value, bool) else math.nan
    except OverflowError:  # a whole number that no double holds
        number = math.nan
    if not math.isfinite(number):
        raise Refused(f"reward must be a finite number, and is {value!r:.100}")
    return {"id": _id(decision), "reward": number}


def _reward_or_refused(decision, value):
    try:
        return _reward(decision, value)
    except Refused as refusal:
        return refusal


def _words(text):
    """The agent's error, or what else was answered."""
    try:
        return json.loads(text)["error"]
    except (ValueError, KeyError, TypeError):
        return text
