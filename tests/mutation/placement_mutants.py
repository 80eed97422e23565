"""The guards of ranks by topology and of binding; see mutants.py."""

from mutant import Mutant

_RANKS = 'rendezvous/job/rank_assignment.cc'
_GROUPS = 'rendezvous/job/topology_groups.cc'
_MOVERS = 'rendezvous/job/mover_queue.cc'
_PLAN = 'agent/binding/binding_plan.cc'
_SEATS = 'agent/binding/worker_seats.cc'
_NIC = 'agent/binding/near_nic.cc'
_TEXT = 'agent/binding/binding_text.cc'

ALL = [Mutant(*mutant) for mutant in (
    # --- ranks by topology
    ('an index means nothing', _RANKS,
     'if (x.index != y.index) return OrLast(x.index) < OrLast(y.index);', ''),
    ('the left neighbour is not looked at', _MOVERS,
     'std::optional<Found> best = Near(left);',
     'std::optional<Found> best;'),
    ('the right neighbour is not looked at', _RANKS, 'who(rank + 1)',
     'std::nullopt'),
    ('the first rank has no neighbour on the left', _RANKS,
     'who(rank + result.order.size() - 1)',
     '(rank > 0 ? who(rank - 1) : std::nullopt)'),
    ('equal keys are one switch wherever they are', _GROUPS,
     'try_emplace({outer, key}, numbers.size())',
     'try_emplace({0, key}, numbers.size())'),
    ('only the innermost group counts', _MOVERS,
     'shared > 0; --shared) {', 'shared > 0; shared = 0) {'),
    ('somebody may be taken twice', _MOVERS, 'taken_[mover] = 1;', ''),
    ('a nearer neighbour on the right does not count', _MOVERS,
     'if (other && (!best || other->shared > best->shared)) best = other;',
     'if (other && !best) best = other;'),
    ('the neighbour on the right always counts', _MOVERS,
     'if (other && (!best || other->shared > best->shared)) best = other;',
     'if (other) best = other;'),
    # --- binding
    ('cores that are forbidden are used', _PLAN,
     'if (std::binary_search(request.allowed.begin(), request.allowed.end(),\n'
     '                           cpu.number)) {', 'if (true) {'),
    ('a node without usable cores is taken', _PLAN,
     'if (near.empty()) return NoCoreThere(request, seat, worker);', ''),
    ('fewer cores than sharers are shared all the same', _PLAN,
     'if (each == 0) return {};', ''),
    ('nobody has one core more', _PLAN,
     'const size_t end = begin + each + (turn < more ? 1 : 0);',
     'const size_t end = begin + each;'),
    ('the smallest complex comes first', _PLAN,
     'return a.size() > b.size();', 'return a.size() < b.size();'),
    ('workers of the same cores do not share their threads', _PLAN,
     'worker.threads = std::max(1, worker.threads / sharers[worker.cpus]);',
     ''),
    ('memory is of one node where the worker has several', _PLAN,
     'if (nodes.size() > 1 && one_node)', 'if (nodes.size() > 1)'),
    ('memory is told where there is one node', _PLAN,
     'if (nodes.size() > 1 && one_node)', 'if (one_node)'),
    ('fewer GPUs than workers are enough', _SEATS,
     'if (gpus.size() < count) {', 'if (false) {'),
    ('hyper-threads count as cores where workers are spread', _SEATS,
     'cores.erase(std::unique(cores.begin(), cores.end()), cores.end());', ''),
    ('a GPU is put where no core can be used', _SEATS,
     'if (std::count(usable.begin(), usable.end(), node) > 0) {',
     'if (true) {'),
    ('two NICs that are as near make one', _NIC,
     '} else if (common == most) {', '} else if (false) {'),
    ('a NIC behind another host bridge is near', _NIC, 'size_t most = 0;',
     'size_t most = static_cast<size_t>(-1);'),
    ('the text of a binding has no end', _TEXT,
     'if (text.size() + 3 + part.size() + rest > most) {', 'if (false) {'),
)]
