#!/bin/bash
# Lets bash complete command lines with the generated script. $1: launch.
set -u
script=$("$1" completion bash) || exit 1
eval "$script" || exit 1
failed=0

# expect "WORDS..." WANTED...: checks the completions of the last word. Each
# WANTED must be among them; !x means that x must not be; none means that there
# must be no completion.
expect() {
  local line=$1
  shift
  read -r -a COMP_WORDS <<<"${line//=/ = }"
  [[ $line == *' ' || $line == *= ]] && COMP_WORDS+=('')
  # If no text follows "=", bash passes "=" itself as the last word, and no
  # empty word after it. So remove the empty word from COMP_WORDS again.
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

# If the program is called as torchrun, it completes torchrun's flags and no
# sub-commands.
ln -s "$PWD/$1" "$TEST_TMPDIR/torchrun"
script=$("$TEST_TMPDIR/torchrun" --print-completion bash) || exit 1
[[ $script != *launch\ launch* && $script == *'-F _torchrun torchrun'* ]] || {
  echo "torchrun --print-completion completes another command"
  failed=1
}
[[ $script == "$("$1" -m torch.distributed.run --print-completion=bash)" ]] || {
  echo 'as a module it completes another command'
  failed=1
}
[[ "$("$1" --print-completion bash)" == "$("$1" completion bash)" ]] || {
  echo 'launch --print-completion is not launch completion'
  failed=1
}
eval "$script" || exit 1
_launch() { _torchrun; }
expect 'torchrun --nno' --nnodes
expect 'torchrun --rdzv-backend=c' c10d '!static'
expect 'torchrun sta' '!status'
expect 'torchrun train.py --sta' none
for shell in zsh fish; do
  script=$("$TEST_TMPDIR/torchrun" --print_completion "$shell") || exit 1
  [[ $script == *torchrun* && $script != *@name@* &&
    $script != *'launch --nproc'* && $script != *subcommand* ]] || {
    echo "torchrun --print-completion $shell: ${script:0:200}"
    failed=1
  }
done
if ((failed == 0)); then echo "all as expected"; fi
exit "$failed"
