#!/usr/bin/env bash
# Schemathesis against a service of its own: requests made from the interface description, answers checked against it.
#   tests/long/schemathesis.sh [examples for each operation]
# Exit codes: 0 nothing found, 1 something found, 2 it could not be run.
set -euo pipefail
cd "$(dirname "$0")/../.."

VERSION=4.32.5
EXAMPLES=${1:-100}
export PATH="$PWD/node_modules/.bin:$PATH"

work=$(mktemp -d)
service=
finish() {
  status=$?
  if [ -n "$service" ]; then kill "$service" 2>/dev/null || true; wait "$service" 2>/dev/null || true; fi
  rm -rf "$work"
  exit "$status"
}
trap finish EXIT

unable() { echo "$*" >&2; exit 2; }

python3 -m venv "$work/venv" || unable 'no Python with venv'
install() { "$work/venv/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$VERSION"; }
# A network that fails for a moment is no finding.
install || { sleep 15; install; } || { sleep 30; install; } || unable 'schemathesis could not be installed'

PORT=$(node -e "const s = require('node:net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close(); })")
export PORT HOST=127.0.0.1 DATA_DIR="$work/data" SANDBOX_STEP=0ms LOG_LEVEL=warn
export PUBLIC_URL="http://127.0.0.1:$PORT" AUTH_URL="http://127.0.0.1:$PORT"
node --disable-warning=ExperimentalWarning infrastructure/composition/main.ts >"$work/service.log" 2>&1 &
service=$!
for _ in $(seq 600); do
  if curl -fs "$PUBLIC_URL/health/ready" >/dev/null; then break; fi
  sleep 0.2
done
curl -fs "$PUBLIC_URL/health/ready" >/dev/null || { cat "$work/service.log" >&2; unable 'the service did not start'; }

fund=6f1c2f0e-8f57-4f0e-9d5e-3a8a0f6f2b11
client=$(npm run --silent receivables -- client create --name schemathesis --fund "$fund" --rate-limit-multiplier 1000)
field() { printf '%s' "$client" | sed "s/.*\"$1\" *: *\"\([^\"]*\)\".*/\1/"; }
token=$(curl -fs "$AUTH_URL/token" -d grant_type=client_credentials -d "client_id=$(field client_id)" -d "client_secret=$(field client_secret)" |
  sed 's/.*"access_token":"\([^"]*\)".*/\1/')

# Left out: two checks that take a request for valid or invalid by its schema alone, which knows neither what was assigned before
# nor that unknown fields are ignored; the one for authentication, which asks for 401 where an empty bucket answers 429; and the one
# for Allow, which overlooks that /loan/files is also the address of an operation with the code `files`. Left out, too, is the phase
# "coverage": in this version its generator fails on nested bodies.
cd "$work"
cat >hooks.py <<'PYTHON'
import schemathesis

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@schemathesis.serializer("application/pdf", WORD, f"application/pdf, {WORD}")
def as_bytes(ctx, value):
    return value if isinstance(value, bytes) else str(value).encode()
PYTHON
export SCHEMATHESIS_HOOKS=hooks
found=0
"$work/venv/bin/schemathesis" run "$PUBLIC_URL/openapi.json" \
  --header "Authorization: Bearer $token" \
  --exclude-checks positive_data_acceptance,negative_data_rejection,ignored_auth,allow_header_conformance \
  --phases examples,fuzzing,stateful --suppress-health-check all --workers 2 --max-failures 20 \
  --max-examples "$EXAMPLES" --seed 1 --request-timeout 60 --continue-on-failure --generation-database none --no-color || found=1

if grep -q 'request failed' "$work/service.log"; then
  echo 'The service failed requests:' >&2
  grep 'request failed' "$work/service.log" | head -20 >&2
  found=1
fi
exit "$found"
