"""Mutants of the states in the event log and of `launch report`; see
mutants.py."""

from mutant import DROP, FALSE, TRUE, Mutant, swap, without

_EVENTS = 'rendezvous/events'
_REPORT = 'launcher/run_report'

ALL = [Mutant(*mutant) for mutant in (
    # --- mutants of the decision when the states of jobs are written to the
    # event log
    ('a finished job begins a schedule', _EVENTS, 'StateSchedule::OnDecision',
     'if is_turn kind', FALSE),
    ('each decision is a state', _EVENTS, 'StateSchedule::OnDecision',
     'if is_turn #2', FALSE),
    ('states of all jobs are written at once', _EVENTS,
     'StateSchedule::TakeDue', 'if kMaxDue', FALSE),
    ('a state is written early', _EVENTS, 'StateSchedule::TakeDue',
     'if has_value', without('now')),
    ('a finished job has states', _EVENTS, 'StateSchedule::OnState',
     'if kFinished', FALSE),
    ('a decision during a read is lost', _EVENTS, 'StateSchedule::OnState',
     'if has_value', FALSE),
    # --- mutants of Job::Excuse, which replaces a worker's failure as the
    # reason why the round broke. The decision that Job::Excuse records has a
    # failure only if the new reason is the loss of a node
    ('a drain is blamed as a failure', 'rendezvous/job', 'Job::Excuse',
     'do is_loss Reblame', swap('is_loss ? cause : std::nullopt', 'cause')),
    # --- mutants of the code that hides secrets in command lines
    ('a named secret is shown', _EVENTS, 'ShownCommand', 'if IsSecretName',
     without('IsSecretName')),
    ('a token of a service is shown', _EVENTS, 'ShownCommand',
     'if IsSecretName', without('IsSecretValue equals')),
    ('a flag after a switch is taken for its value', _EVENTS, 'ShownCommand',
     'if is_next_secret', without('is_flag')),
    # --- mutants of the parser of the lines of an event log
    ('a long line is parsed', _REPORT, 'ParseEvent', 'if kMaxEventLineBytes',
     FALSE),
    ('an event needs no kind', _REPORT, 'ParseEvent', 'if has_value kind',
     without('kind')),
    ('nodes are not bounded', _REPORT, 'NodesOf', 'if kMaxNodes', FALSE),
    # --- mutants of the content of a report (ReportBuilder)
    ('a new run is added to the earlier one', _REPORT, 'ReportBuilder::Add',
     'if is_over', FALSE),
    ('a late join begins a new run', _REPORT, 'ReportBuilder::Add',
     'if is_over', without('round')),
    ('blame does not replace the cause', _REPORT, 'ReportBuilder::Add',
     'if number', FALSE),
    ('a cancelled job is interrupted', _REPORT, 'InterruptionsOf',
     'if is_broken', without('incident')),
    ('nodes of the report are not bounded', _REPORT, 'ReportBuilder::AddState',
     'if kMaxNodes', TRUE),
    ('samples of the report are not bounded', _REPORT,
     'ReportBuilder::AddSample', 'if kMaxSamples', FALSE),
    ('a record of another run is mixed in', _REPORT, 'AddRecord', 'if why',
     FALSE),
    ('an older record prevails', _REPORT, 'AddRecord', 'if is_newer #1', TRUE),
    ('a difference is not complained about', _REPORT, 'AddRecord',
     'if differences', TRUE),
    ('a newer verdict is ignored', _REPORT, 'AddRecord',
     'if verdict', without('is_newer')),
    ('a partial loss is shown as the whole', _REPORT, 'AddInterruptions',
     'if verdict', FALSE),
    ('an interruption is listed twice', _REPORT, 'AddInterruptions',
     'if insert', FALSE),
    ('the end of a round in the log is replaced', _REPORT, 'AddRound',
     'if kUnknown', FALSE),
    ('the version of the reader is shown', _REPORT, 'StateOf', 'do erase_if',
     DROP),
    ('faults in other jobs are told', _REPORT, 'AddMachines', 'if run_id',
     FALSE),
    ('machines of other jobs are shown', _REPORT, 'AddMachines', 'if contains',
     FALSE),
    ('ranks of a success are shown', _REPORT, 'WantedOutputs',
     'if is_unexplained', FALSE),
)]
