# shellcheck shell=bash
# Sourced by the scripts that measure, with their own arguments: --help prints
# the comment at the script's beginning, before anything is built.
case "${1-}" in
  -h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
  -*)
    echo "$0: unknown option '$1'; --help tells what there is" >&2
    exit 2
    ;;
esac
