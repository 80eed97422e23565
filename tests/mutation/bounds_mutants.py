"""Mutants of what bounds starts, log folders and events; see mutants.py."""

from mutant import DROP, FALSE, TRUE, Mutant, swap

_GUARDIAN = 'agent/guardian'
_LOGS = 'agent/logs'
_EVENTS = 'rendezvous/events'

ALL = [Mutant(*mutant) for mutant in (
    ('a mistyped program is tried again', _GUARDIAN, 'IsPassing',
     'return seen', TRUE),
    ('a program that was there before fails at once', _GUARDIAN, 'IsPassing',
     'return seen', FALSE),
    ('every failure to start passes', _GUARDIAN, 'IsPassing', 'return #3',
     TRUE),
    ('no failure to start passes', _GUARDIAN, 'IsPassing', 'return #1', FALSE),
    ('a failure to start is never final', _GUARDIAN, 'DelayOfRetry',
     'if failed', swap('|| failed > kMaxRetries', '')),
    ('the first round\'s log folder goes', _LOGS, 'KeptRounds::Begin',
     'if has_first_', DROP),
    ('log folders are kept for ever', _LOGS, 'KeptRounds::Begin',
     'if newest_', TRUE),
    ('a log folder is removed twice', _LOGS, 'KeptRounds::Begin',
     'do pop_front', DROP),
    ('joins without end are written', _EVENTS, 'EventThrottle::Allowance::Take',
     'if next', DROP),
    ('an allowance is not spent', _EVENTS, 'EventThrottle::Allowance::Take',
     'do full_at #2', DROP),
    ('strangers spend the allowance of jobs', _EVENTS, 'EventThrottle::Add',
     'do written', swap('nodes_', 'jobs_')),
    ('omitted decisions are not counted', _EVENTS, 'EventThrottle::Add',
     'if written', DROP),
    ('each omitted decision is told', _EVENTS, 'EventThrottle::Add',
     'do next_summary_', DROP),
    ('omitted decisions are told twice', _EVENTS, 'EventThrottle::Rest',
     'do clear', DROP),
)]
