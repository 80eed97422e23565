#!/bin/bash
# Tests that workers with TensorFlow's and JAX's environment know each other's
# addresses before their program begins. $1: launch, $2: agent.
set -u
launch=$PWD/$1 agent=$PWD/$2
export TMPDIR=$TEST_TMPDIR
export PATH=/usr/local/bin:/usr/bin:/bin
unset MUSTER_TOKEN MUSTER_COORDINATOR CUDA_VISIBLE_DEVICES
failed=0
cd "$TEST_TMPDIR" || exit 1

complain() {
  echo "FAILED: $*"
  failed=1
}

# A worker that writes its variables to a file named after its rank, and listens
# on its address.
cat >worker.py <<'END'
import json, os, socket, sys
rank = int(os.environ['RANK'])
config = json.loads(os.environ['TF_CONFIG'])
assert config['task'] == {'type': 'worker', 'index': rank}, config
workers = config['cluster']['worker']
assert len(workers) == len(set(workers)) == 3, workers
assert os.environ['JAX_COORDINATOR_ADDRESS'] not in workers
assert os.environ['JAX_NUM_PROCESSES'] == '3'
assert os.environ['JAX_PROCESS_ID'] == str(rank)
host, port = workers[rank].rsplit(':', 1)
with socket.socket() as server:
  server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
  server.bind((host, int(port)))
  server.listen()
with open('rank%d.txt' % rank, 'w') as out:
  print(json.dumps(workers), os.environ['JAX_COORDINATOR_ADDRESS'],
        sys.argv[1:], file=out)
END

output=$(timeout 100 "$launch" --standalone --nproc-per-node 3 \
  --framework-env tf,jax worker.py 'a b' 2>&1 </dev/null) || complain "$output"
for rank in 1 2; do
  cmp -s rank0.txt "rank$rank.txt" || complain "rank $rank knows another world"
done
grep -qF "['a b']" rank0.txt || complain "arguments: $(cat rank0.txt)"

# A program that the kernel cannot execute is reported with the message and the
# exit code (126) of a shell.
printf 'no program' >broken
chmod +x broken
timeout 100 "$launch" --standalone --framework-env jax ./broken >out 2>&1 </dev/null
[[ $? == 126 ]] || complain "a broken program: $(cat out)"
grep -q 'broken: ' out || complain "a broken program: $(cat out)"
timeout 100 "$launch" --standalone --framework-env tf --worker-store true \
  >out 2>&1 </dev/null
[[ $? == 2 ]] || complain "--worker-store: $(cat out)"

# The hidden flag --framework-process of launch and agent fails with a message
# if the variables of a round are missing.
for program in "$launch" "$agent"; do
  env -u RANK "$program" --framework-process jax true >out 2>&1 </dev/null
  [[ $? == 1 ]] || complain "no round: $(cat out)"
  grep -q 'WORLD_SIZE= in the worker' out || complain "no round: $(cat out)"
done

exit "$failed"
