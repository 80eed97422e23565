"""Mutants of what bounds starts and log folders; see mutants.py."""

from mutant import DROP, FALSE, TRUE, Mutant, swap

_GUARDIAN = 'agent/guardian'
_LOGS = 'agent/logs'

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
)]
