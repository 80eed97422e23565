#!/usr/bin/python3
"""`launch --config` gives a script the same variables as `accelerate launch`.
"""

import os
import re
import sys
import tempfile
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
_ROOT = os.path.dirname(os.path.dirname(_HERE))
sys.path[:0] = [_HERE, os.path.join(_ROOT, 'tests', 'python')]

import frameworks
import launched
import xml_main

_PYTHON = frameworks.python(frameworks.ACCELERATE_DEEPSPEED)
_ACCELERATE = [_PYTHON, '-m', 'accelerate.commands.accelerate_cli', 'launch']
_HEAD = '''compute_environment: LOCAL_MACHINE
debug: false
enable_cpu_affinity: false
machine_rank: 0
main_training_function: main
num_machines: 1
rdzv_backend: static
same_network: true
tpu_env: []
tpu_use_cluster: false
tpu_use_sudo: false
use_cpu: false
downcast_bf16: 'no'
'''
_MULTI_GPU = _HEAD + '''distributed_type: MULTI_GPU
num_processes: 2
mixed_precision: bf16
gpu_ids: 0,1
main_process_port: 0
dynamo_config:
  dynamo_backend: INDUCTOR
  dynamo_mode: reduce-overhead
  dynamo_use_dynamic: true
  dynamo_use_fullgraph: false
'''
_FSDP = _HEAD.replace('debug: false', 'debug: true') + '''
distributed_type: FSDP
num_processes: 2
mixed_precision: 'no'
main_process_port: 0
fsdp_config:
  fsdp_activation_checkpointing: true
  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP
  fsdp_backward_prefetch: BACKWARD_PRE
  fsdp_cpu_ram_efficient_loading: true
  fsdp_offload_params: false
  fsdp_sharding_strategy: HYBRID_SHARD
  fsdp_state_dict_type: SHARDED_STATE_DICT
  fsdp_sync_module_states: true
  fsdp_transformer_layer_cls_to_wrap: LlamaDecoderLayer,MistralDecoderLayer
'''
_FSDP2 = _HEAD.replace('enable_cpu_affinity: false',
                       'enable_cpu_affinity: true') + '''
distributed_type: FSDP
num_processes: 2
main_process_port: 0
fsdp_config:
  fsdp_version: 2
  fsdp_reshard_after_forward: true
  min_num_params: 2000
parallelism_config:
  parallelism_config_dp_shard_size: 2
  parallelism_config_tp_size: 1
'''
_DEEPSPEED = _HEAD + '''distributed_type: DEEPSPEED
num_processes: 2
mixed_precision: fp16
main_process_port: 0
deepspeed_config:
  gradient_accumulation_steps: 4
  gradient_clipping: 1.0
  offload_optimizer_device: cpu
  offload_param_device: none
  zero3_init_flag: true
  zero3_save_16bit_model: false
  zero_stage: 3
'''
_CPU = _HEAD.replace('use_cpu: false', 'use_cpu: true') + '''
distributed_type: MULTI_CPU
num_processes: 1
mixed_precision: 'no'
'''
# Environment variables that the test does not compare, because they come from
# the launcher or its shell and not from Accelerate.
_LAUNCHERS = re.compile(
    r'RANK$|LOCAL_RANK$|GROUP_|ROLE_|WORLD_SIZE$|LOCAL_WORLD_SIZE$|MASTER_|'
    r'TORCHELASTIC_|TORCH_NCCL_|OMP_NUM_THREADS$|MUSTER_|NCCL_P2P|NCCL_IB|'
    r'PWD$|OLDPWD$|SHLVL$|_$|LC_CTYPE$|LD_LIBRARY_PATH$|PATH$|PYTHONPATH$|'
    # Accelerate's launcher sets this variable for its own process, and the
    # workers inherit the variable.
    r'PYTORCH_NVML_BASED_CUDA_CHECK$')
_TRAINING = _HEAD.replace('use_cpu: false', 'use_cpu: true') + '''
distributed_type: MULTI_CPU
num_processes: 2
mixed_precision: 'no'
'''


class AccelerateConfigs(unittest.TestCase):

  def setUp(self):
    why_not = frameworks.why_not(frameworks.ACCELERATE_DEEPSPEED)
    if why_not:
      self.skipTest(why_not)

  def write(self, config):
    file = tempfile.NamedTemporaryFile('w', suffix='.yaml')
    self.addCleanup(file.close)
    file.write(config)
    file.flush()
    return file.name

  def frameworks_part(self, environment, before):
    return {name: value for name, value in environment.items()
            if before.get(name) != value and not _LAUNCHERS.match(name)}

  def check(self, config):
    """Checks that each rank's variables equal Accelerate's, except the
    launchers' own."""
    path = self.write(config)
    before = frameworks.environment(PYTHON_EXEC=_PYTHON)
    theirs = launched.told(
        self, _ACCELERATE + ['--config_file', path,
                             launched.ENVIRONMENT_WORKER], before)
    ours = launched.told(
        self, [launched.LAUNCH, '--config', path, '--quiet',
               launched.ENVIRONMENT_WORKER], before)
    self.assertEqual(theirs.keys(), ours.keys())
    for rank in theirs:
      expected = self.frameworks_part(theirs[rank]['environment'], before)
      self.assertTrue(expected)
      found = self.frameworks_part(ours[rank]['environment'], before)
      self.maxDiff = None
      self.assertEqual(expected, found)

  def test_multi_gpu(self):
    self.check(_MULTI_GPU)

  def test_fsdp(self):
    self.check(_FSDP)

  def test_fsdp2_with_a_mesh(self):
    self.check(_FSDP2)

  def test_deepspeed(self):
    self.check(_DEEPSPEED)

  def test_cpu(self):
    self.check(_CPU)

  def test_training_has_the_same_losses(self):
    """The losses equal those under Accelerate's own launcher for CPU processes.
    """
    worker = os.path.join(_HERE, 'accelerate_worker.py')
    before = frameworks.environment(PYTHON_EXEC=_PYTHON)
    ours = launched.run(
        self, [launched.LAUNCH, '--config', self.write(_TRAINING), '--quiet',
               worker], before)
    theirs = launched.run(
        self, _ACCELERATE + ['--config_file', self.write(
            _TRAINING.replace('MULTI_CPU', 'MULTI_GPU') +
            'main_process_port: 0\n'), worker],
        dict(before, ACCELERATE_USE_CPU='true'))
    line = re.compile(r'rank \d of 2: losses [\d. ]+')
    self.assertEqual(len(line.findall(ours)), 2, ours)
    self.assertEqual(sorted(line.findall(ours)), sorted(line.findall(theirs)),
                     theirs)


if __name__ == '__main__':
  xml_main.main()
