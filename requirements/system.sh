#!/usr/bin/env bash
# System packages, where Debian's package manager and the right to use it are at hand; says what to do where not.
#   system.sh venv    Python's venv module
#   system.sh tests   Chromium for the browser tests; with CI=true PostgreSQL, Node.js, nginx, Caddy and libfaketime too
set -euo pipefail

case "${1:-}" in
venv) wanted=(python3-venv) ;;
tests)
    wanted=()
    command -v "${CHROMIUM:-chromium}" >/dev/null || wanted+=(chromium fonts-dejavu-core)
    if [ "${CI:-}" = true ]; then
        command -v node >/dev/null || wanted+=(nodejs)
        command -v nginx >/dev/null || wanted+=(nginx-light)
        command -v caddy >/dev/null || wanted+=(caddy)
        command -v faketime >/dev/null || wanted+=(faketime)
        compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null || wanted+=(postgresql)
    fi
    ;;
*)
    echo "usage: system.sh venv|tests" >&2
    exit 2
    ;;
esac
[ ${#wanted[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then as_root=(sudo); else as_root=(none); fi
fi
if ! command -v apt-get >/dev/null || [ "${as_root[*]:-}" = none ]; then
    echo "Not installed: ${wanted[*]}. Install them yourself; tests that need them are skipped by name until then."
    [ "$1" = venv ] && exit 1
    exit 0
fi
"${as_root[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${wanted[@]}" >/dev/null
