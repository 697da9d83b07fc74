"""Validates events, one JSON object a line, against docs/asyncapi.yaml: python3 validate_events.py FILE"""

import collections
import json
import pathlib
import sys

import jsonschema
import yaml

root = pathlib.Path(__file__).resolve().parents[2]
document = yaml.safe_load((root / "docs" / "asyncapi.yaml").read_text(encoding="utf-8"))
formats = jsonschema.FormatChecker()
validators = {
    message["name"]: jsonschema.Draft202012Validator(
        {"components": document["components"], **message["payload"]}, format_checker=formats
    )
    for message in document["components"]["messages"].values()
}

seen = collections.Counter()
problems = 0
for line in open(sys.argv[1], encoding="utf-8"):
    event = json.loads(line)
    seen[event["event"]] += 1
    for error in validators[event["event"]].iter_errors(event):
        problems += 1
        print(f"{event['event']} {event['event_id']}: {error.json_path}: {error.message}")

# What random lives have to show; the other messages are decisions, pings and what was put aside.
EXPECTED = {
    "loan_received", "loan_approved", "loan_rejected", "loan_term_signed", "disbursement_completed",
    "installment_settled", "installment_underpaid", "installment_prepaid", "loan_fully_settled",
    "repurchase_received", "repurchase_completed", "renegotiation_completed",
}  # fmt: skip
missing = EXPECTED - set(seen)
for name in sorted(missing):
    print(f"no {name} among the events")
print(f"{sum(seen.values())} events of {len(seen)} kinds, {problems} problem(s)")
sys.exit(1 if problems or missing else 0)
