"""Runs one step of a MultiWorkerMirroredStrategy, configured by TF_CONFIG."""

import json
import os

import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
  weight = tf.Variable(1.0)


@tf.function
def step():

  def one():
    with tf.GradientTape() as tape:
      loss = weight * (float(os.environ['RANK']) + 1)
    gradient = tape.gradient(loss, weight)
    total = tf.distribute.get_replica_context().all_reduce('sum', gradient)
    weight.assign_sub(0.1 * total)
    return total

  return strategy.run(one)


total = step()
task = json.loads(os.environ['TF_CONFIG'])['task']
print('%s %d of %d: gradient %.1f, weight %.1f' % (
    task['type'], task['index'], strategy.num_replicas_in_sync, total,
    weight.numpy()), flush=True)
