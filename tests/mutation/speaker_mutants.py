"""The guards of who says what all nodes are told; see mutants.py."""

from mutant import DROP, TRUE, Mutant, swap, without

_JOB = 'rendezvous/job'

ALL = [Mutant(*mutant) for mutant in (
    ('the speaker changes with every step', _JOB, 'Job::KeepSpeaker', 'if',
     TRUE),
    ('who is cut off goes on speaking', _JOB, 'Job::KeepSpeaker', 'if',
     without('stream')),
    ('every node says what runs', _JOB, 'Job::IsSaidBy', 'return group_rank',
     TRUE),
    ('every node says why all stop', _JOB, 'Job::IsSaidBy', 'return kStopping',
     swap('is_speaker', 'true')),
    ('who stops alone in the round says nothing', _JOB, 'Job::IsSaidBy',
     'return kStopping', without('key phase_')),
    ('all stop and each says so', _JOB, 'Job::IsSaidBy', 'return kStopping',
     swap('(key.round == round_ && phase_ != JobPhase::kStopping)',
          'key.round == round_')),
    ('after a new start each says so', _JOB, 'Job::IsSaidBy',
     'return kStopping',
     swap('(key.round == round_ && phase_ != JobPhase::kStopping)',
          'phase_ != JobPhase::kStopping')),
    ('every node says what is waited for', _JOB, 'Job::IsSaidBy',
     'return kRunning', TRUE),
    ('a spare does not say that it is one', _JOB, 'Job::IsSaidBy',
     'return kRunning', without('phase_')),
    ('who is refused says nothing', _JOB, 'Job::TellStream', 'do said_here',
     DROP),
    ('every node acts for the job', _JOB, 'Job::DirectiveFor',
     'do acts_for_job', TRUE),
    # --- what a stop asks for
    ('a stop of another round has this one\'s signal and cause', _JOB,
     'Job::StopOrderFor', 'do', without('round')),
    ('the last stop\'s cause is the next one\'s', _JOB, 'Job::StopOrderFor',
     'do', without('phase_')),
    ('a question stays open', _JOB, 'Job::Tell', 'do question_', DROP),
)]
