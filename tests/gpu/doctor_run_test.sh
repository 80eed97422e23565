#!/bin/bash
# Tests run_doctor with simulated versions of nvidia-smi and NVIDIA's library:
# it must pass if both show the same GPUs, and fail otherwise. $1: run_doctor.
# $2: launch. $3: the library.
set -u
check=$PWD/$1
launch=$PWD/$2
export MUSTER_NVML_LIBRARY=$PWD/$3 FAKE_NVML_GPUS=2
export TMPDIR=$TEST_TMPDIR PATH=$TEST_TMPDIR/bin:/usr/bin:/bin
unset CUDA_VISIBLE_DEVICES MUSTER_COORDINATOR
failed=0

# expect CODE LAST: run_doctor must exit with CODE and print LAST at the end.
expect() {
  local output got
  output=$("$check" "$launch" 2>&1)
  got=$?
  [[ $got == "$1" && $output == *"$2" ]] || {
    echo "FAILED: wanted $1, $2; got $got: $output"
    failed=1
  }
}

expect 0 '0 passed, 0 failed, 1 skipped'
mkdir -p "$TEST_TMPDIR/bin"
cat >"$TEST_TMPDIR/bin/nvidia-smi" <<'SMI'
#!/bin/bash
case $1 in
  *uuid*) printf 'GPU-%d, 45, 512\n' 0 1; exit ;;
  *driver_version*) line=550.54.15 ;;
  *name*) line='NVIDIA H100' ;;
  *ecc*) line=0 ;;
  *persistence*) line=Enabled ;;
  *pcie*) line='16, 16' ;;
  *) line='GPU' ;;
esac
echo "$line"
echo "$line"
SMI
chmod +x "$TEST_TMPDIR/bin/nvidia-smi"
expect 0 '8 passed, 0 failed'
FAKE_NVML_SET='1.ecc=1,0.width=8' expect 1 '6 passed, 2 failed'
FAKE_NVML_SET='1.celsius=90' expect 1 '7 passed, 1 failed'
FAKE_NVML_SET='0.used_mib=5000' expect 1 '7 passed, 1 failed'
FAKE_NVML_GPUS=3 expect 1 '6 passed, 2 failed'

# `run_doctor pack DIR` copies run_doctor and `launch` into DIR. The copies must
# work without the source tree.
packed=$TEST_TMPDIR/packed
GPU_RUN_BUILT=$PWD "$check" pack "$packed" || failed=1
said=$(cd / && "$packed/run_doctor" 2>&1)
[[ $said == *'8 passed, 0 failed' ]] || {
  echo "FAILED: packed, it says: $said"
  failed=1
}
exit $failed
