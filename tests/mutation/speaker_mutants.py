"""Mutants of the code for which node prints and acts for all nodes; see
mutants.py."""

from mutant import DROP, TRUE, Mutant, swap, without

_JOB = 'rendezvous/job'

ALL = [Mutant(*mutant) for mutant in (
    ('the speaker changes with every step', _JOB, 'Job::Step', 'do nullptr',
     TRUE),
    ('who is cut off goes on speaking', _JOB, 'Job::Step', 'do nullptr',
     without('stream')),
    ('every node says what runs', _JOB, 'PrintsForJob', 'return group_rank',
     TRUE),
    ('every node says why all stop', _JOB, 'PrintsForJob', 'return kStopping',
     swap('is_speaker', 'true')),
    ('who stops alone in the round says nothing', _JOB, 'PrintsForJob',
     'return kStopping',
     swap('||(key.round == state.round && state.phase != JobPhase::kStopping)',
          '')),
    ('all stop and each says so', _JOB, 'PrintsForJob', 'return kStopping',
     swap('(key.round == state.round && state.phase != JobPhase::kStopping)',
          'key.round == state.round')),
    ('after a new start each says so', _JOB, 'PrintsForJob',
     'return kStopping',
     swap('(key.round == state.round && state.phase != JobPhase::kStopping)',
          'state.phase != JobPhase::kStopping')),
    ('every node says what is waited for', _JOB, 'PrintsForJob',
     'return kRunning', TRUE),
    ('a spare does not say that it is one', _JOB, 'PrintsForJob',
     'return kRunning', without('phase')),
    ('who is refused says nothing', _JOB, 'Outbox::TellStream',
     'do prints_for_job', DROP),
    ('every node acts for the job', _JOB, 'DirectiveFor', 'do acts_for_job',
     TRUE),
    # --- mutants of the orders to stop workers, and of the answers to reports
    ('a stop of another round has this one\'s signal and cause', _JOB,
     'StopOrderFor', 'do kStopping', without('round')),
    ('the last stop\'s cause is the next one\'s', _JOB, 'StopOrderFor',
     'do kStopping', without('phase')),
    ('a question stays open', _JOB, 'Outbox::Tell', 'do question_', DROP),
)]
