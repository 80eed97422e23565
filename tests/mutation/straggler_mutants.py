"""Mutants of the search for slow ranks; see mutants.py."""

from mutant import DROP, FALSE, TRUE, Mutant, swap, without

_JOB = 'rendezvous/job'
_WATCH = 'rendezvous/stragglers'

ALL = [Mutant(*mutant) for mutant in (
    ('the first times of a measurement count as a window', _WATCH,
     'StragglerWatch::Follow', 'if is_known', without('is_known')),
    ('lower times do not begin a measurement', _WATCH,
     'StragglerWatch::Follow', 'if is_known', without('own')),
    ('a window may be as short as it likes', _WATCH, 'StragglerWatch::Follow',
     'if kMinWindow', FALSE),
    ('windows have no votes', _WATCH, 'StragglerWatch::Vote', 'do is_above',
     DROP),
    ('a rank never recovers', _WATCH, 'StragglerWatch::Judge', 'do slow votes',
     swap('votes >= kPassingVotes', 'true')),
    ('a few windows are enough', _WATCH, 'StragglerWatch::Judge',
     'do slow votes', swap('votes >= kPersistentVotes', 'true')),
    ('ranks that always differ are slow', _WATCH, 'StragglerWatch::Judge',
     'do is_outlier kDeviations', without('kDeviations')),
    ('a small difference is slow', _WATCH, 'StragglerWatch::Judge',
     'do is_outlier kDeviations', without('IsAbove')),
    ('one long pause is slow', _WATCH, 'StragglerWatch::Judge',
     'do is_passing is_outlier', without('votes')),
    ('slow data are slow computing', _WATCH, 'StragglerWatch::Judge',
     'do found kData', swap('SlowPhase::kData', 'SlowPhase::kCompute')),
    ('the other ranks need no time', _WATCH, 'StragglerWatch::Judge',
     'do most_of_others share', DROP),
    ('nobody is told', _WATCH, 'StragglerWatch::Judge', 'if was_slow', FALSE),
    ('ranks are compared all the time', _WATCH, 'StragglerWatch::IsDue',
     'return', TRUE),
    ('many ranks are compared as often as few', _WATCH,
     'StragglerWatch::Evaluate', 'do due_',
     swap('kIntervalPerRank * std::ssize(ranks_)', 'kInterval')),
    ('a round does not begin anew', _JOB, 'Job::WatchStragglers',
     'if watch round', FALSE),
    ('a straggler leaves without a spare', _JOB, 'Job::EvictStraggler',
     'if GoodSpares', without('GoodSpares')),
    ('a straggler leaves a round that ends', _JOB, 'Job::EvictStraggler',
     'if GoodSpares', without('succeeded')),
    ('a straggler leaves a preempted job', _JOB, 'Job::EvictStraggler',
     'if GoodSpares', without('preemption')),
    ('a passing straggler leaves', _JOB, 'Job::EvictStraggler',
     'if is_persistent', FALSE),
)]
