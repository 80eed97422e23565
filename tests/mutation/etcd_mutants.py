"""Mutants of the election among coordinators that share etcd; see mutants.py."""

from mutant import DROP, FALSE, TRUE, Mutant, swap, without

_ETCD = 'rendezvous/etcd'
_JOURNAL = 'rendezvous/journal'

ALL = [Mutant(*mutant) for mutant in (
    ('a leader goes on after its lease', _ETCD, 'Leadership::Next',
     'if leads_until_', FALSE),
    ('two requests at a time', _ETCD, 'Leadership::Next', 'if in_flight_',
     without('in_flight_')),
    ('a former leader goes on to ask', _ETCD, 'Leadership::Next',
     'if in_flight_', without('stage_')),
    ('a standby claims a free lock only', _ETCD, 'Leadership::Next',
     'if seen_', without('takeover_after')),
    ('a standby waits for a free lock', _ETCD, 'Leadership::Next', 'if seen_',
     without('holding')),
    ('a standby reads without a pause', _ETCD, 'Leadership::Next', 'if due_ #2',
     TRUE),
    ('a leader renews without a pause', _ETCD, 'Leadership::Next', 'if due_ #1',
     TRUE),
    ('a renewal does not postpone the takeover', _ETCD, 'Leadership::OnRead',
     'if seen_', swap('seen_ == lock', 'seen_.has_value()')),
    ('each look postpones the takeover', _ETCD, 'Leadership::OnRead',
     'if seen_', FALSE),
    ('the first lease has no begin', _ETCD, 'Leadership::OnClaimed',
     'do leads_until_', DROP),
    ('a renewal does not count', _ETCD, 'Leadership::OnRenewed',
     'do leads_until_', DROP),
    ('a term is not kept', _ETCD, 'Leadership::OnClaimed', 'do term_', DROP),
    ('a refused leader goes on', _ETCD, 'Leadership::OnRefused', 'if stage_',
     FALSE),
    ('a refused claim is repeated as it was', _ETCD, 'Leadership::OnRefused',
     'do reset', DROP),
    ('a lost claim is repeated as it was', _ETCD, 'Leadership::OnFailed',
     'if kClaim', swap('kClaim', 'kNone')),
    ('a failed request is repeated in the past', _ETCD, 'Leadership::OnFailed',
     'do due_', DROP),
    # --- mutants of the journal's reaction if its writes hang or fail: with
    # etcd, decisions wait until they are written; with a disk, jobs do not wait
    ('an undurable decision is told', _JOURNAL, 'PendingRecords::NoteTrouble',
     'if on_trouble', TRUE),
    ('a full disk holds the jobs back', _JOURNAL,
     'PendingRecords::NoteTrouble', 'if on_trouble', FALSE),
)]
