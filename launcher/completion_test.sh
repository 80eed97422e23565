#!/bin/bash
# Lets bash complete command lines with the generated script. $1: launch.
set -u
script=$("$1" completion bash) || exit 1
eval "$script" || exit 1
failed=0

# expect "WORDS..." WANTED...: the completions of the last word contain each
# WANTED; "!x" must not be among them; "none": there are none.
expect() {
  local line=$1
  shift
  read -r -a COMP_WORDS <<<"${line//=/ = }"
  [[ $line == *' ' || $line == *= ]] && COMP_WORDS+=('')
  # bash passes "=" itself as the word where nothing follows it.
  if [[ $line == *= ]]; then unset "COMP_WORDS[-1]"; fi
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  COMPREPLY=()
  _launch 2>/dev/null
  local wanted
  for wanted in "$@"; do
    case $wanted in
      none) [[ ${#COMPREPLY[@]} == 0 ]] ;;
      !*) [[ " ${COMPREPLY[*]} " != *" ${wanted#!} "* ]] ;;
      *) [[ " ${COMPREPLY[*]} " == *" $wanted "* ]] ;;
    esac || {
      echo "'$line': wanted $wanted, got: ${COMPREPLY[*]}"
      failed=1
    }
  done
}

expect 'launch --nno' --nnodes '!--no-python'
expect 'launch --nproc_per' --nproc-per-node
expect 'launch --rdzv-backend ' static c10d muster
expect 'launch --rdzv-backend=' static c10d muster
expect 'launch --rdzv-backend=c' c10d '!static'
expect 'launch --rdzv_backend=c' c10d
expect 'launch -r ' 0 3
expect 'launch --nnodes ' none
expect 'launch --nnodes=2 --sta' --standalone --start-method
expect 'launch --standalone --sca' --scale-up
expect 'launch sta' status
expect 'launch train.py --sta' none
expect 'launch --nnodes 2 train.py --sta' none
expect 'launch --nnodes=2 train.py --sta' none
expect 'launch status --js' --json '!--standalone'
expect 'launch completion ' bash zsh fish
expect 'launch ins' inspect
expect 'launch doctor --' --nodes --json --nnodes --hostfile
expect 'launch doctor --nodes --nno' --nnodes
expect 'launch --fold' none
expect 'launch bench --nproc' --nproc-per-node
expect 'launch bench --nproc-per-node 2 all_reduce --no' none
expect 'launch --nnodes 2 status --js' none
if ((failed == 0)); then echo "all as expected"; fi
exit "$failed"
