"""The amounts of the descriptions in a folder, with jsonschema: python3 published_amounts.py FOLDER"""

import json
import pathlib
import sys

import jsonschema

refused = []
for name in ("openapi.json", "asyncapi.json"):
    document = json.loads((pathlib.Path(sys.argv[1]) / name).read_text(encoding="utf-8"))
    amount = jsonschema.Draft202012Validator(document["components"]["schemas"]["Amount"])
    for cents in range(1, 200_001):
        text = f"{cents // 100}.{cents % 100:02}"
        if not amount.is_valid(json.loads(text)):
            refused.append(f"{name}: {text}")
print(f"all amounts from 0.01 to 2000.00 in two descriptions, {len(refused)} refused")
for problem in refused[:20]:
    print(problem)
sys.exit(1 if refused else 0)
