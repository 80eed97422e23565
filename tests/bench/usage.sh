# shellcheck shell=bash
# Sourced by the benchmark scripts with their arguments. --help: prints the
# comment at the beginning of the calling script and exits before anything is
# built.
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
