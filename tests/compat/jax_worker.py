"""Joins jax.distributed without arguments, and adds up the ranks."""

import os

import jax

jax.distributed.initialize()

import jax.numpy as jnp
from jax.experimental import multihost_utils

ranks = multihost_utils.process_allgather(jnp.array([jax.process_index()]))
print('process %d of %d, rank %s: %s' % (
    jax.process_index(), jax.process_count(), os.environ['RANK'],
    ranks.ravel().tolist()), flush=True)
jax.distributed.shutdown()
