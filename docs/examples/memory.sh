#!/usr/bin/env bash
# Shows how to use the CLI in a script: data on stdout, everything else on stderr, and
# meaningful exit codes. The argument is a user id. MEMORY overrides the command, `npx memory`.
set -euo pipefail

memory=(${MEMORY:-npx memory})
user="${1:-ada}"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

# Checks that the service is healthy. Exit code 5 means that it cannot be reached.
"${memory[@]}" health >/dev/null

# A save prints only the id on stdout.
id="$("${memory[@]}" save --user "$user" 'Prefers dark mode' --metadata topic=display)"
"${memory[@]}" update "$id" 'Prefers dark mode, but not at noon' >/dev/null

# Ingests a file with one record per line. If a run is interrupted, a second run does not ingest the
# same lines again.
printf '{"type":"event","userId":"%s","data":{"name":"signed up","plan":"%s"}}\n' \
  "$user" free "$user" pro >"$folder/events.jsonl"
"${memory[@]}" ingest batch "$folder/events.jsonl" >/dev/null

# Ingests text from a pipe. With --wait, the command returns when search can find the text.
echo 'The quarterly report is due on Friday.' |
  "${memory[@]}" ingest document --user "$user" - --title Reminder --wait >/dev/null

# In a pipe, the output is tab-separated, for cut and awk.
echo "memories: $("${memory[@]}" list --user "$user" --all | cut -f1 | wc -l | tr -d ' ')"
"${memory[@]}" search --user "$user" 'when is the report due' --limit 1 --json |
  grep -o '"content":"[^"]*"'

# If a memory does not exist, the exit code is 3, so a script need not parse messages.
"${memory[@]}" delete "$id" >/dev/null
code=0
"${memory[@]}" get "$id" >/dev/null 2>&1 || code=$?
echo "deleted: exit $code"
