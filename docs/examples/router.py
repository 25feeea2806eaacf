"""A router in thirty lines, for `ironarm scenarios run --router "python router.py"`.

Nine requests in ten go to the deployment with the best median so far, one to any.
"""

import json
import random
import statistics
import sys


def main():
    """Answer one line of JSON for each request."""
    seen = {}
    goal = "min"
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "start":  # a run begins: forget everything
            seen, goal = {}, message["goal"]
            random.seed(message["seed"])
        elif message["type"] == "request":
            names = message["deployments"]
            untried = [name for name in names if name not in seen]
            if untried or random.random() < 0.1:
                choice = random.choice(untried or names)
            else:
                best = min if goal == "min" else max
                choice = best(names, key=lambda name: statistics.median(seen[name]))
            print(json.dumps({"deployment": choice}), flush=True)
        elif message["type"] == "outcome":
            seen.setdefault(message["deployment"], []).append(message["value"])


if __name__ == "__main__":
    main()
