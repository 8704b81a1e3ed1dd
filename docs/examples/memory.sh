#!/usr/bin/env bash
# The command line in a script: data on stdout, everything else on stderr, exit codes that mean
# something. Takes a user's name; MEMORY is the command, where it is not npx memory.
set -euo pipefail

memory=(${MEMORY:-npx memory})
user="${1:-ada}"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

# Is there a service, and is it well? 5 means that it cannot be reached.
"${memory[@]}" health >/dev/null

# stdout of a save is the id, and nothing but the id.
id="$("${memory[@]}" save --user "$user" 'Prefers dark mode' --metadata source=settings)"
"${memory[@]}" update "$id" 'Prefers dark mode, but not at noon' >/dev/null

# A file of records, one a line. Run again after an interruption, it skips what is done.
printf '{"type":"event","userId":"%s","data":{"name":"signed up","plan":"%s"}}\n' \
  "$user" free "$user" pro >"$folder/events.jsonl"
"${memory[@]}" ingest batch "$folder/events.jsonl" >/dev/null

# Text from a pipe; --wait comes back when it can be found.
echo 'The quarterly report is due on Friday.' |
  "${memory[@]}" ingest document --user "$user" - --title Reminder --wait >/dev/null

# Tab-separated in a pipe: the fields are for cut and awk.
echo "memories: $("${memory[@]}" list --user "$user" --all | cut -f1 | wc -l | tr -d ' ')"
"${memory[@]}" search --user "$user" 'when is the report due' --limit 1 --json |
  grep -o '"content":"[^"]*"'

# A memory that is not there is exit code 3, not a line to search for.
"${memory[@]}" delete "$id" >/dev/null
code=0
"${memory[@]}" get "$id" >/dev/null 2>&1 || code=$?
echo "deleted: exit $code"
