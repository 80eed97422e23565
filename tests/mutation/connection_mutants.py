"""Mutants of the code that bounds a coordinator's connections, and of the names
in certificates; see mutants.py."""

from mutant import DROP, FALSE, TRUE, Mutant, swap, without

_NET = 'base/net'
_SERVER = 'rendezvous/server'
_TLS = 'rendezvous/tls'

ALL = [Mutant(*mutant) for mutant in (
    # --- mutants of the choice of the connection that is closed if there are
    # too many
    ('a connection that has gone stays with its network', _NET,
     'ConnectionCrowd::Remove', 'do share erase id', DROP),
    ('a network keeps its place among the sizes', _NET, 'ConnectionCrowd::Add',
     'if', FALSE),
    # --- mutants of the deadlines and limits of a coordinator's connections
    ('no connection has a deadline', _SERVER, 'ConnectionPool::CloseExpired',
     'while', FALSE),
    ('a connection is closed early', _SERVER, 'ConnectionPool::CloseExpired',
     'while', swap('+ kFirstMessageTimeout', '')),
    ('a proven connection is proven again', _SERVER, 'ConnectionPool::Proved',
     'if', FALSE),
    ('a node is on trial', _SERVER, 'ConnectionPool::Joined', 'do Withdraw',
     DROP),
    ('a connection whose node has left is nothing', _SERVER,
     'ConnectionPool::Left', 'do callers_', DROP),
    ('one of two nodes leaves, and the connection is a caller', _SERVER,
     'ConnectionPool::Left', 'if nodes #2', FALSE),
    ('a caller leaves', _SERVER, 'ConnectionPool::Left', 'if end', FALSE),
    ('a flood on trial is not closed', _SERVER, 'ConnectionPool::TrialToClose',
     'if largest', FALSE),
    ('two of a network on trial are a flood', _SERVER,
     'ConnectionPool::TrialToClose', 'if largest',
     swap('limits_.on_trial / 8', '1')),
    ('no connection on trial has a fair time', _SERVER,
     'ConnectionPool::TrialToClose', 'if since', TRUE),
    ('a connection on trial is never too old', _SERVER,
     'ConnectionPool::TrialToClose', 'if since', FALSE),
    ('the fair time begins with the connection', _SERVER,
     'ConnectionPool::Apply', 'do since', DROP),
    ('any number is on trial', _SERVER, 'ConnectionPool::Apply', 'if on_trial_',
     FALSE),
    ('any number waits', _SERVER, 'ConnectionPool::Apply', 'while waiting',
     FALSE),
    ('those that have spoken make way first', _SERVER, 'ConnectionPool::Apply',
     'do crowd silent_', swap('silent_.empty()', '!spoken_.empty()')),
    ('any number of callers', _SERVER, 'ConnectionPool::Apply', 'while callers_',
     FALSE),
    ('all are accepted', _SERVER, 'ConnectionPool::MayAccept', 'return', TRUE),
    ('a caller too many is not seen', _SERVER, 'ConnectionPool::NeedsApply',
     'return', without('callers_')),
    ('a place on trial that is free is not seen', _SERVER,
     'ConnectionPool::NeedsApply', 'return', without('size on_trial_ spoken_')),
    # --- mutants of the coordinator's check that its own listener answers
    # (SelfCheck)
    ('a thread that stands still is not seen', _SERVER, 'SelfCheck::Ask',
     'if kMaxDelay', FALSE),
    ('the first request does not count', _SERVER, 'SelfCheck::Ask',
     'if has_value', TRUE),
    ('one failure is death', _SERVER, 'SelfCheck::Ask', 'if failures_',
     swap('kMaxFailures', '1')),
    ('a listener that answers again stays dead', _SERVER, 'SelfCheck::Answered',
     'do failures_', DROP),
    ('two checks run at once', _SERVER, 'SelfCheck::IsDue', 'return',
     without('running_')),
    ('checks follow each other at once', _SERVER, 'SelfCheck::IsDue', 'return',
     swap('>= kInterval', '>= Duration::zero()')),
    ('nobody has to ask', _SERVER, 'SelfCheck::IsDue', 'return',
     without('asked_')),
    # --- mutants of the check for which jobs a client's certificate is valid
    ('a run id itself is no name', _TLS, 'MatchesJob', 'if run_id', FALSE),
    ('a prefix needs no star', _TLS, 'MatchesJob', 'return ConsumeSuffix',
     without('ConsumeSuffix')),
    ('a star alone is for every job', _TLS, 'MatchesJob',
     'return ConsumeSuffix', swap('job.size() > 1', 'true')),
    ('a prefix needs no dash', _TLS, 'MatchesJob', 'return ConsumeSuffix',
     swap("job.back() == '-'", 'true')),
    ('a prefix is a run id of its own', _TLS, 'MatchesJob',
     'return ConsumeSuffix', swap('run_id.size() > job.size()', 'true')),
    ('all run ids have every prefix', _TLS, 'MatchesJob',
     'return ConsumeSuffix', without('StartsWith')),
    # --- mutants of the check of what a client may do (the roles and jobs of
    # its certificate)
    ('every principal has every job', _TLS, 'CheckAccess', 'if ok',
     TRUE),
    ('every principal has every role', _TLS, 'CheckRole', 'if count', TRUE),
    ('roles of the certificate add nothing', _TLS, 'PrincipalOf',
     'if has_role', FALSE),
    ('jobs of the certificate do not limit', _TLS, 'IncludesJob',
     'return empty', swap('principal.jobs.empty()', 'true')),
    ('an operator does not see', _TLS, 'PrincipalOf', 'if count', FALSE),
)]
