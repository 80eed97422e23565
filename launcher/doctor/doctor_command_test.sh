#!/bin/bash
# Tests launch doctor on this machine, with a stand-in for NVIDIA's library that
# reports GPUs, and on three nodes of one job. $1: launch. $2: the stand-in.
set -u
launch=$PWD/$1
fake=$PWD/$2
export TMPDIR=$TEST_TMPDIR
export PATH=/usr/local/bin:/usr/bin:/bin
unset RANK MUSTER_COORDINATOR MUSTER_TOKEN CUDA_VISIBLE_DEVICES
for name in ${!NCCL_@} ${!SLURM_@} ${!KUBERNETES_@}; do unset "$name"; done
failed=0
cd "$TEST_TMPDIR" || exit 1

fail() {
  echo "FAILED: $*"
  failed=1
}

# expect CODE PATTERN ARGUMENTS...: launch doctor must exit with CODE (a glob
# pattern), and its output must match PATTERN (a glob pattern).
expect() {
  local code=$1 pattern=$2 output got
  shift 2
  output=$(timeout 60 "$launch" doctor "$@" 2>&1 </dev/null)
  got=$?
  # shellcheck disable=SC2053
  [[ $got == $code && $output == $pattern ]] ||
    fail "launch doctor $*: exit $got: $output"
}

expect '[034]' 'launch doctor on *Network*  ok  *Machine*ealthy*'
expect '[034]' '{"schema":1,"host":*"findings":[{"severity":*' --json
expect 0 'Usage:*launch doctor --nodes*' --help
expect 2 'launch: doctor: takes no program*' train.py
expect 2 'launch: doctor: --nnodes: unknown flag*' --nnodes=2
expect 4 '*error *127.0.0.1:1*coordinator-unreachable*' --endpoint 127.0.0.1:1
expect 4 '*error *nosuch*coordinator-token*' --endpoint 127.0.0.1:1 \
  --token-file nosuch
expect 4 '*is no folder*disk-unusable*' --folders "$launch"
expect '[34]' '*/nowhere (named) is not there; / above it has*disk-not-there*' \
  --folders /nowhere
expect '[34]' '*/proc (named): *no space*disk-no-space-told*' --folders /proc
export MUSTER_NVML_LIBRARY=$fake FAKE_NVML_GPUS=2
expect '[034]' '*2 x NVIDIA H100 80.0 GiB*'
FAKE_NVML_SET='1.fallen=1' \
  expect 4 '*error *GPU 1: GPU is lost*gpu-lost*Unhealthy*' --quiet
FAKE_NVML_INIT=18 expect 4 '*Driver/library version mismatch*nvml-mismatch*'
CUDA_VISIBLE_DEVICES=0,5 expect 4 '*names 5; there are 2 GPUs*'
NCCL_SOCKET_IFNAME=nosuch expect 4 '*nccl-interface-missing*'
FAKE_NVML_GPUS=0 expect 4 '*driver is loaded and shows no GPU*gpu-none-shown*'
# checked NAME WORKERS: runs `launch --health-checks`, which reads the GPUs from
# the fake NVML library ($fake), with its output in the file checked.NAME. On an
# unhealthy node, launch prints the reason and fails once join_timeout has
# passed.
checked() {
  timeout 60 "$launch" --nproc-per-node="$2" --health-checks=gpu \
    --rdzv-conf=join_timeout=10 --no-python true >"checked.$1" 2>&1 </dev/null
}
checked two gpu || fail "two GPUs: $(<checked.two)"
FAKE_NVML_GPUS=0 checked none 1 &
none=$!
CUDA_VISIBLE_DEVICES=0,1 FAKE_NVML_INIT=9 checked driver 1 &
driver=$!
wait "$none" && fail "no GPU passed"
[[ $(<checked.none) == *'shows no GPU'* ]] || fail "no GPU: $(<checked.none)"
wait "$driver" && fail "no driver passed"
[[ $(<checked.driver) == *'needs 2 GPUs here'* ]] ||
  fail "no driver: $(<checked.driver)"
unset MUSTER_NVML_LIBRARY FAKE_NVML_GPUS

# In a worker whose MUSTER_TOKEN is not the coordinator's, the doctor reports a
# wrong token.
output=$(MUSTER_TOKEN=secret timeout 60 "$launch" --standalone --no-python \
  env MUSTER_TOKEN=other "$launch" doctor 2>&1 </dev/null)
[[ $output == *error*'has another token'*coordinator-token* ]] ||
  fail "a wrong token: $output"

# The doctor on three nodes, one of them with a different GPU. The coordinator's
# port is free, and below 32768, so that the kernel does not use it for an
# outgoing connection of another program.
port=$(python3 -c 'import random, socket; s = socket.socket()
while s.connect_ex(("127.0.0.1", p := random.randrange(10000, 32000))) == 0: pass
print(p)')
# nodes FLAGS...: runs the doctor on nodes 0 to 2 with FLAGS, such as --json, in
# addition to the flags below. Writes the output of node N to out.N, and its
# exit code to code.N.
nodes() {
  local node
  for node in 0 1 2; do
    (
      if ((node == 1)); then
        export MUSTER_NVML_LIBRARY=$fake FAKE_NVML_GPUS=1 FAKE_NVML_SET=ecc=9
      fi
      # A health command is set that would reject every node (false). The doctor
      # must not run this command.
      PET_HEALTH_COMMAND=false PET_HEALTH_CHECKS=all \
        timeout 100 "$launch" doctor --nodes --nnodes=3 --node-id="node$node" \
        --rdzv-backend=c10d --rdzv-endpoint="127.0.0.1:$port" \
        --rdzv-id="doctor$1" "$@" >"out.$node" 2>"err.$node" </dev/null
      echo $? >"code.$node"
    ) &
  done
  wait
  for node in 0 1 2; do
    [[ $(<"code.$node") == 4 ]] ||
      fail "node $node: exit $(<"code.$node"): $(<"out.$node") $(<"err.$node")"
  done
}
nodes --quiet
page=$(cat out.*)
[[ $page == 'launch doctor on 3 nodes'*'9 memory errors'*'[gpu-ecc]'*'Unhealthy'* ]] ||
  fail "the page: $page"
(($(cat out.* | grep -c 'launch doctor on') == 1)) || fail "not one page: $page"
nodes --json
python3 - out.* <<'PYTHON' || fail "JSON: $(cat out.*)"
import json, sys
text = ''.join(open(name, encoding='utf-8').read() for name in sys.argv[1:])
found = json.loads(text)
assert found['schema'] == 1 and found['severity'] == 'error', found
assert len(found['nodes']) == 3, found
between = {f['id'] for f in found['between']['findings']}
assert 'nodes' in between and 'nodes-unreachable' not in between, between
assert 'nodes-hardware-differ' in between, between
PYTHON

# Node 1 of three nodes is not started. The page must name node 1 and show nodes
# 0 and 2. It must also show that the coordinator answers the workers, which
# need the job's token for this.
for rank in 0 2; do
  MUSTER_TOKEN=secret timeout 100 "$launch" doctor --nodes --nnodes=3 \
    --node-rank=$rank --node-id=node$rank --master-addr=127.0.0.1 \
    --master-port="$port" --local-addr=127.0.0.$((rank + 1)) \
    --rdzv-conf=last_call_timeout=8 >"out.$rank" 2>"err.$rank" </dev/null &
  nodes[rank]=$!
done
for rank in 0 2; do
  wait "${nodes[rank]}"
  code=$?
  ((code == 4)) || fail "absent: node $rank: exit $code: $(<"err.$rank")"
done
page=$(cat out.0 out.2)
[[ $page == 'launch doctor on 2 of 3 nodes'*'node0, node2; 2 connections'* &&
  $page == *'error    node rank 1: it did not come  [nodes-absent]'* &&
  $page == *"127.0.0.1:$port answers in "*' ms and sees this node as'* &&
  $page == *Machine*'Unhealthy'* ]] ||
  fail "an absent node: $page $(<err.0) $(<err.2)"

# If no coordinator is running, launch prints the page of this node, and a
# message that the nodes did not come together.
timeout 100 "$launch" doctor --nodes --nnodes=2 --rdzv-backend=c10d \
  --rdzv-endpoint="127.0.0.1:$port" --rdzv-conf=is_host=0 \
  --connect-timeout=1 >out.alone 2>err.alone </dev/null
code=$?
[[ $code == 1 && $(<err.alone) == *'did not come together'* &&
  $(<out.alone) == 'launch doctor on '*coordinator-unreachable* ]] ||
  fail "no coordinator: exit $code: $(<out.alone) $(<err.alone)"

left=(muster-doctor-*)
[[ -e ${left[0]} ]] && fail "left behind: ${left[*]}"
exit $failed
