#!/bin/bash
# Mistakes of a user: launch prints one clear line, exits with the right code
# and leaves no files. $1: launch.
set -u
launch=$1
export TMPDIR=$TEST_TMPDIR
export PATH=/usr/local/bin:/usr/bin:/bin
unset MUSTER_TOKEN MUSTER_COORDINATOR
failed=0
cd "$TEST_TMPDIR" || exit 1

complain() {
  echo "FAILED: $*"
  failed=1
}

# refuse CODE PATTERN ARGUMENTS...: launch must exit with CODE and print one
# line, which matches PATTERN (a glob), and leave no file.
refuse() {
  local code=$1 pattern=$2 output got
  shift 2
  output=$(timeout 60 "$OLDPWD/$launch" "$@" 2>&1 </dev/null)
  got=$?
  [[ $got == "$code" ]] || complain "launch $*: exit $got, not $code: $output"
  [[ $output == launch:\ $pattern ]] || complain "launch $*: $output"
  [[ $output != *$'\n'* ]] || complain "launch $*: several lines: $output"
  [[ ! -d muster_$UID ]] || complain "launch $*: left muster_$UID behind"
}

# launch prints one line and exits with 2 if its working folder was removed.
(
  start=$OLDPWD
  mkdir gone && cd gone && rmdir ../gone || exit 1
  OLDPWD=$start
  refuse 2 '--log-dir=logs: the working folder*is gone*' --log-dir=logs true
  exit $failed
) || failed=1

touch plain.txt
printf '#!/bin/sh\n' >program.sh
mkdir folder

refuse 2 '--nndoes: unknown flag; did you mean --nnodes?*' --nndoes=1 true
refuse 2 'inspect: name the dumps*' inspect
refuse 2 'inspect: absent: No such file*' inspect absent
refuse 2 'inspect: folder: holds no rank_N.ring*' inspect folder
refuse 2 'inspect: plain.txt: is empty*' inspect plain.txt
refuse 2 'inspect: --what: unknown flag (see launch inspect --help)' \
  inspect --what
refuse 2 '--nnodes=4:2: *MIN is greater*' --nnodes=4:2 true
refuse 2 '--nnodes=0: *' --nnodes=0 true
refuse 2 '--nproc-per-node=0: *' --nproc-per-node=0 true
refuse 2 '--nproc-per-node=x: *' --nproc-per-node=x true
refuse 2 '--max-restarts=-1: *' --max-restarts=-1 true
refuse 2 '--rdzv-backend=etcd: *write c10d*' --rdzv-backend=etcd true
refuse 2 '--rdzv-conf=x=1: x is an unknown key; known keys: *' \
  --rdzv-conf=x=1 true
refuse 2 '--rdzv-endpoint=a:b: *' --rdzv-endpoint=a:b true
refuse 2 '--rdzv-endpoint=a,,b: endpoint 2 of 3 is empty*' \
  --rdzv-endpoint=a,,b true
refuse 2 '--rdzv-endpoint=a,b,a: endpoint a:29400 is given twice*' \
  --rdzv-endpoint=a,b,a true
refuse 2 '--rdzv-endpoint=*: 9 endpoints are too many*' \
  --rdzv-endpoint=a,b,c,d,e,f,g,h,i true
refuse 2 '--rdzv-conf=is_host=1: *daemons host the coordinator*' --nnodes=2 \
  --rdzv-endpoint=a,b --rdzv-conf=is_host=1 true
refuse 2 '--node-rank=2: *' --nnodes=2 --node-rank=2 true
refuse 2 '--standalone: *' --standalone --nnodes=2 true
refuse 2 '--nnodes=1:2: *' --nnodes=1:2 true
refuse 2 '--no-python: *' -m --no-python true
refuse 2 'no program: *'
refuse 2 '--log-dir=~/logs: begins with ~*write*$HOME/logs*' \
  '--log-dir=~/logs' true
refuse 2 '--stdin=7: this job has 1 worker; name rank 0*' \
  --standalone --stdin=7 true
refuse 2 'nosuch.py: No such file*' nosuch.py
refuse 127 'nosuch: there is no such program in PATH*' nosuch
refuse 127 'program.sh: *write ./program.sh*' program.sh
refuse 127 './nosuch: No such file*' ./nosuch
# If PATH is not set, launch looks for the program in the system's default
# folders.
env -i TMPDIR="$TMPDIR" "$OLDPWD/$launch" --standalone --quiet sh -c true ||
  complain "without PATH sh is not found"
refuse 126 './plain.txt: is not executable*chmod +x' ./plain.txt
refuse 126 './folder: is a folder*' ./folder
refuse 2 '*nosuch*' --token-file=nosuch true
refuse 2 '--gpus: there is no GPU 0*' --gpus=0 true
refuse 2 'completion: unknown shell tcsh*' completion tcsh
refuse 2 'completion: zsh: name one shell*' completion bash zsh
refuse 2 '--print-completion: unknown shell tcsh*' --print-completion tcsh
refuse 2 'drain: names no node*' drain
refuse 2 'drain: its argument is empty*' drain ''
# `launch cancel "$UNSET"` must not cancel the coordinator's only job.
refuse 2 'cancel: its argument is empty*' cancel ''
refuse 2 '--jsn: unknown flag; did you mean --json? (see launch status --help)' \
  status --jsn
refuse 2 '--event-log-handler=nosuch: is no event handler*' \
  --event-log-handler=nosuch true
refuse 2 '--logs-specs=nosuch: *are not loaded*' --logs-specs=nosuch true
refuse 2 '--store-port=70000: *' --store-port=70000 true
refuse 2 '--store-port=29400: is the coordinator*' --nnodes=2 \
  --rdzv-endpoint=127.0.0.1 --store-port=29400 true
CUDA_VISIBLE_DEVICES=3 refuse 2 '--virtual-local-rank: 2 workers*one entry*' \
  --virtual-local-rank --nproc-per-node=2 true
TORCH_ELASTIC_SHUTDOWN_TIMEOUT=x refuse 2 \
  'TORCH_ELASTIC_SHUTDOWN_TIMEOUT=x: *' true
# launch config checks that it can write the file before it asks questions.
refuse 2 '/nonexistent/x.yaml: No such file or directory (see launch config *' \
  config /nonexistent/x.yaml
refuse 2 'plain.txt: is there already*' config plain.txt
refuse 2 'folder: Is a directory*' config folder --force
refuse 2 'config: the file*is empty*' config ''
# Control characters in names are escaped, so that they do not affect the
# terminal.
refuse 2 'a<U+202E>b.py: No such file*' $'a\xe2\x80\xaeb.py'
refuse 2 'config show: --b<U+202E>: *' config show $'--b\xe2\x80\xae'
refuse 1 '*nowhere.invalid does not resolve*' --quiet --nnodes=2 \
  --connect-timeout=0.1 --rdzv-endpoint=nowhere.invalid true
refuse 1 '--log-dir: *plain.txt*' --log-dir=plain.txt true
refuse 1 '--log-dir: */proc/muster*' --log-dir=/proc/muster true
# No process listens on port 1, so the connection is refused.
refuse 1 '*127.0.0.1:1*' status --endpoint=127.0.0.1:1
refuse 1 'coordinator 127.0.0.1:1: *refused*coordinator 127.0.0.2:1: *refused*' \
  status --endpoint=127.0.0.1:1,127.0.0.2:1

PET_NNODES=3:2 refuse 2 'PET_NNODES=3:2: *' true
PYTHON_EXEC=/nosuch/python refuse 2 'PYTHON_EXEC=/nosuch/python: *' -m x

# A flag that needs --hostfile is refused without --hostfile. Otherwise the
# program would run on this machine, although the user means other hosts.
refuse 2 '--include: is for --hostfile, *' --include=h1 true
refuse 2 '--export: is for --hostfile, *' --export=KEY=hush true

# A host file that is a pipe without a writer counts as empty: launch does not
# wait for a writer.
mkfifo pipe
refuse 2 '--hostfile=pipe: names no host; *' --hostfile=pipe true
refuse 2 '--hostfile=folder: Is a directory*' --hostfile=folder true
refuse 2 '--hostfile=absent: No such file*' --hostfile=absent true
refuse 2 '--hostfile=/dev/zero: is larger than 8 MiB*' \
  --hostfile=/dev/zero true
echo 127.0.0.1 >hosts
DS_ENV_FILE=$PWD/folder refuse 2 '*folder: Is a directory*' \
  --hostfile=hosts true
DS_ENV_FILE=$PWD/pipe refuse 2 '*nosuch*' \
  --hostfile=hosts --token-file=nosuch true
refuse 2 'the token file pipe is empty*' --token-file=pipe true

# If launch is called by the name deepspeed, its errors name DeepSpeed's flags.
ln -s "$OLDPWD/$launch" deepspeed
as_deepspeed() {
  local pattern=$1 output got
  shift
  output=$(timeout 60 ./deepspeed "$@" 2>&1 </dev/null)
  got=$?
  [[ $got == 2 ]] || complain "deepspeed $*: exit $got: $output"
  [[ $output == deepspeed:\ $pattern' (see deepspeed --help)' ]] ||
    complain "deepspeed $*: $output"
}
as_deepspeed '--num_gpus=x: *' --num_gpus=x a.py
as_deepspeed '--num-gps: unknown flag; did you mean --num_gpus?' --num-gps=1
as_deepspeed '--master_port=99999: *' --num_gpus=1 --master_port=99999 a.py
as_deepspeed 'nosuch.py: No such file*' --num_gpus=1 nosuch.py
as_deepspeed '--hostfile=pipe: names no host*' --hostfile=pipe a.py
as_deepspeed '--hostfile=folder: Is a directory' --hostfile=folder a.py

if ((failed == 0)); then echo "all refused as they should be"; fi
exit "$failed"
