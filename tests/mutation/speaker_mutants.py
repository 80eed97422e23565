"""The guards of who says what all nodes are told; see mutants.py."""

from mutant import Mutant

_DIRECTIVES = 'rendezvous/job/job_directives.cc'

ALL = [Mutant(*mutant) for mutant in (
    ('the speaker changes with every step', _DIRECTIVES,
     'if (speaker == nullptr || speaker->stream == 0) speaker_',
     'speaker_'),
    ('who is cut off goes on speaking', _DIRECTIVES,
     'if (speaker == nullptr || speaker->stream == 0) speaker_',
     'if (speaker == nullptr) speaker_'),
    ('every node says what runs', _DIRECTIVES,
     'return node.group_rank == 0;', 'return true;'),
    ('every node says why all stop', _DIRECTIVES,
     '''return is_speaker || key.round < round_ ||
             (key''', '''return true || key.round < round_ ||
             (key'''),
    ('who stops alone in the round says nothing', _DIRECTIVES,
     '''|| key.round < round_ ||
             (key.round == round_ && phase_ != JobPhase::kStopping);''',
     '|| key.round < round_;'),
    ('all stop and each says so', _DIRECTIVES,
     '(key.round == round_ && phase_ != JobPhase::kStopping);',
     'key.round == round_;'),
    ('after a new start each says so', _DIRECTIVES,
     '(key.round == round_ && phase_ != JobPhase::kStopping);',
     'phase_ != JobPhase::kStopping;'),
    ('every node says what is waited for', _DIRECTIVES,
     'return is_speaker || phase_ == JobPhase::kRunning;', 'return true;'),
    ('a spare does not say that it is one', _DIRECTIVES,
     'return is_speaker || phase_ == JobPhase::kRunning;',
     'return is_speaker;'),
    ('who is refused says nothing', _DIRECTIVES,
     'directive.said_here = true;', ''),
    ('every node acts for the job', _DIRECTIVES,
     'directive.acts_for_job = node.identity.node_id == speaker_;',
     'directive.acts_for_job = true;'),
    # --- what a stop asks for
    ('a stop of another round has this one\'s signal and cause', _DIRECTIVES,
     'const bool ours = round == round_ && phase_ == JobPhase::kStopping;',
     'const bool ours = phase_ == JobPhase::kStopping;'),
    ('the last stop\'s cause is the next one\'s', _DIRECTIVES,
     'const bool ours = round == round_ && phase_ == JobPhase::kStopping;',
     'const bool ours = round == round_;'),
    ('a question stays open', _DIRECTIVES, 'question_->answered = true;', ''),
)]
