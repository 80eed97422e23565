"""Mutants of the code for ranks by topology and for binding; see mutants.py."""

from mutant import DROP, FALSE, TRUE, Mutant, swap, without

_BINDING = 'agent/binding'
_JOB = 'rendezvous/job'

ALL = [Mutant(*mutant) for mutant in (
    # --- mutants of AssignRanks, which orders nodes by index and switches
    ('an index means nothing', _JOB, 'ComesBefore', 'if index', DROP),
    ('the left neighbour is not looked at', _JOB, 'MoverQueue::Take', 'do left',
     swap('= Near(left)', '')),
    ('the right neighbour is not looked at', _JOB, 'AssignRanks', 'do Take',
     swap('who(rank + 1)', 'std::nullopt')),
    ('the first rank has no neighbour on the left', _JOB, 'AssignRanks',
     'do Take',
     swap('who(rank + result.order.size() - 1',
          '(rank > 0 ? who(rank - 1) : std::nullopt')),
    ('equal keys are one switch wherever they are', _JOB,
     'TopologyGroups::TopologyGroups', 'do try_emplace', swap('{outer', '{0')),
    ('only the innermost group counts', _JOB, 'MoverQueue::Near', 'for',
     swap('--shared', 'shared = 0')),
    ('somebody may be taken twice', _JOB, 'MoverQueue::Take', 'do taken_', DROP),
    ('a nearer neighbour on the right does not count', _JOB, 'MoverQueue::Take',
     'if', swap('(!best || other->shared > best->shared)', '!best')),
    ('the neighbour on the right always counts', _JOB, 'MoverQueue::Take', 'if',
     swap('&& (!best || other->shared > best->shared)', '')),
    # --- mutants of the binding of workers to CPUs
    ('cores that are forbidden are used', _BINDING, 'PlanBinding',
     'if binary_search', TRUE),
    ('a node without usable cores is taken', _BINDING, 'CpusOf', 'if near',
     DROP),
    ('fewer cores than sharers are shared all the same', _BINDING,
     'ShareOfCores', 'if each', DROP),
    ('nobody has one core more', _BINDING, 'ShareOfCores', 'do size_t end',
     swap('+ (turn < more ? 1 : 0)', '')),
    ('the smallest complex comes first', _BINDING, 'ComplexOf', 'return a',
     swap('>', '<')),
    ('workers of the same cores do not share their threads', _BINDING,
     'ShareThreads', 'do threads', DROP),
    ('memory is of one node where the worker has several', _BINDING,
     'PlanBinding', 'if one_node', without('one_node')),
    ('memory is told where there is one node', _BINDING, 'PlanBinding',
     'if one_node', without('nodes')),
    ('fewer GPUs than workers are enough', _BINDING, 'SeatWorkers', 'if count',
     FALSE),
    ('hyper-threads count as cores where workers are spread', _BINDING,
     'SpreadWorkers', 'do unique', DROP),
    ('a GPU is put where no core can be used', _BINDING, 'MaybeAt', 'if usable',
     TRUE),
    ('two NICs that are as near make one', _BINDING, 'Nearest',
     'if common most #2', FALSE),
    ('a NIC behind another host bridge is near', _BINDING, 'Nearest',
     'do size_t most', swap('0', 'static_cast<size_t>(-1)')),
    ('the text of a binding has no end', _BINDING, 'BindingText', 'if text',
     FALSE),
)]
