"""Mutants of the metrics of nodes and GPUs, and of the files that tell a GPU's
job; see mutants.py."""

from mutant import DROP, FALSE, TRUE, Mutant, swap, without

_GPUS = 'agent/gpus'
_METRICS = 'agent/metrics'

ALL = [Mutant(*mutant) for mutant in (
    ('each worker has metrics unasked', _METRICS, 'AddNodeMetrics', 'if kEach',
     TRUE),
    ('no worker has metrics of its own', _METRICS, 'AddNodeMetrics', 'if kEach',
     FALSE),
    ('workers that report nothing have a metric', _METRICS, 'AddTogether',
     'if empty', TRUE),
    ('the silence of a node is its shortest', _METRICS, 'Highest',
     'return max_element', swap('max_element', 'min_element')),
    ('the step of a node is its highest', _METRICS, 'Lowest',
     'return min_element', swap('min_element', 'max_element')),
    ('a node without a store tells its load', _METRICS, 'AddNodeMetrics',
     'if store', TRUE),
    ('stale values of GPUs are shown', _METRICS, 'AddGpuMetrics',
     'if kMaxGpuValueAge', FALSE),
    ('a node without a driver has an age', _METRICS, 'AddGpuMetrics',
     'if has_value', FALSE),
    ('values that no GPU reports have a family', _METRICS, 'AddMetric',
     'if has_family', TRUE),
    ('GPUs without Xids have a family', _METRICS, 'AddXids', 'if empty', FALSE),
    ('a lost GPU is up', _METRICS, 'Metrics', 'return error', TRUE),
    ('broken hardware is other', _GPUS, 'KindOf', 'if MeaningOf', FALSE),
    ('programs\' Xids are other', _GPUS, 'KindOf', 'return kApplication',
     swap('XidKind::kApplication', 'XidKind::kOther')),
    ('the newest Xid is not kept', _GPUS, 'Count', 'do last', DROP),
    ('GPUs beyond the last one have a file', _GPUS, 'PlaceOf', 'if size',
     without('size')),
    ('an ambiguous id names a GPU', _GPUS, 'PlaceOf', 'return is_first', TRUE),
    ('a GPU that is named twice has two files', _GPUS, 'JobFileNames',
     'if count', TRUE),
    ('the files of other jobs are removed', _GPUS, 'RemoveJobFiles',
     'if IsOfThisJob', TRUE),
    ('the process\' own numbers name the files', _GPUS, 'JobFileNames',
     'do number machine', swap('at == machine.end()', 'true')),
)]
