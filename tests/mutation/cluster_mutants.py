"""The guards of preemption and of nodes that are not fit; see mutants.py."""

from mutant import Mutant

_JOB = 'rendezvous/job/job.cc'
_PHASES = 'rendezvous/job/job_phases.cc'
_BLAME = 'rendezvous/job/job_blame.cc'
_DIRECTIVES = 'rendezvous/job/job_directives.cc'
_MEMBERSHIP = 'rendezvous/job/membership.cc'
_NODE = 'rendezvous/job/node.cc'
_LIFECYCLE = 'agent/lifecycle/lifecycle.cc'
_HANG = 'agent/lifecycle/lifecycle_hang.cc'
_WATCH = 'agent/lifecycle/hang_watch.cc'
_PREEMPTED = 'rendezvous/job/job_preemption.cc'
_PREEMPTION = 'agent/lifecycle/lifecycle_preemption.cc'
_FITNESS = 'agent/lifecycle/lifecycle_fitness.cc'
_FITNESS_WATCH = 'agent/lifecycle/fitness_watch.cc'

ALL = [Mutant(*mutant) for mutant in (
    # --- the cluster takes the nodes away
    ('a notice is renewed by each report', _PREEMPTED,
     'preemption_->deadline = std::min(preemption_->deadline, deadline);',
     'preemption_->deadline = deadline;'),
    ('a second order leaves the grace', _PREEMPTED,
     'preemption_->deadline = std::min(preemption_->deadline, deadline);', ''),
    ('a notice asks for more than the job gives', _PREEMPTED,
     'std::clamp(notice.left, Duration::zero(), spec_.preempt_grace)',
     'notice.left'),
    ('a preempted job goes on gathering', _PREEMPTED,
     '''      Finish(PreemptionVerdict());
      break;''', '      break;'),
    ('a round that not all have begun goes on', _PREEMPTED,
     'if (world_.unstarted > 0) {', 'if (false) {'),
    ('nobody is told of the notice', _DIRECTIVES,
     '''    key.newest_signal = signals_.empty() ? 0 : newest_signal_;
    key.preempted = preemption_.has_value();''',
     '''    key.newest_signal = signals_.empty() ? 0 : newest_signal_;'''),
    ('the grace of a preemption has no end', _PREEMPTED,
     'if (!preemption_.has_value() || now_ < preemption_->deadline) return;',
     'return;'),
    ('what remains of the grace is not told', _PREEMPTED,
     'notice.left = std::max(preemption_->deadline - now_, Duration::zero());',
     ''),
    ('a round follows a preemption', _PHASES,
     '} else if (preemption_.has_value()) {\n    Finish(PreemptionVerdict());',
     '} else if (false) {\n    Finish(PreemptionVerdict());'),
    ('somebody is let in after the notice', _PHASES,
     '''world_.succeeded == 0 &&
         !preemption_.has_value();''', 'world_.succeeded == 0;'),
    ('a preempted job is a success', _PHASES,
     'Finish(preemption_.has_value() ? PreemptionVerdict() : SuccessVerdict());',
     'Finish(SuccessVerdict());'),
    ('a failure after the notice spends a restart', _BLAME,
     '''  if (preemption_.has_value()) {
    // The others''', '''  if (false) {
    // The others'''),
    ('SIGTERM after the notice is a cancel', _JOB,
     'if (preemption_.has_value() && wish.signal == SIGTERM) {',
     'if (false) {'),
    ('Ctrl-C after the notice is none', _JOB,
     'if (preemption_.has_value() && wish.signal == SIGTERM) {',
     'if (preemption_.has_value()) {'),
    ('old failures are the preemption\'s', _PREEMPTED,
     'if (phase_ == JobPhase::kGathering) failures_.Clear();', ''),
    ('the lost act for the job', _PREEMPTED,
     'if (found != nodes_.nodes().end() && found->second.stream != 0) {',
     'if (true) {'),
    ('all act for the job', _DIRECTIVES,
     'directive.acts_for_job = node.identity.node_id == speaker_;',
     'directive.acts_for_job = true;'),
    ('a round begins after the notice', _LIFECYCLE,
     '''      } else if (preemption_.has_value()) {
        // The coordinator''', '''      } else if (false) {
        // The coordinator'''),
    ('the notice is announced again and again', _PREEMPTION,
     '''    preemption_->deadline = std::min(preemption_->deadline, deadline);
    return;''',
     '''    preemption_->deadline = std::min(preemption_->deadline, deadline);'''),
    ('workers get no signal of it', _PREEMPTION,
     'if (phase_ == NodePhase::kRunning && config_.preempt_signal != 0) {',
     'if (false) {'),
    ('signal 0 is sent', _PREEMPTION,
     'if (phase_ == NodePhase::kRunning && config_.preempt_signal != 0) {',
     'if (phase_ == NodePhase::kRunning) {'),
    ('any end after the notice is a good one', _PREEMPTION,
     'if (failure.kind == FailureKind::kSignal && failure.signal == signal) {',
     'if (true) {'),
    ('who dies of the signal has failed', _PREEMPTION,
     'if (failure.kind == FailureKind::kSignal && failure.signal == signal) {',
     'if (false) {'),
    ('a shell that dies of the signal has failed', _PREEMPTION,
     'failure.exit_code == 128 + signal', 'false'),
    ('one order twice ends the grace', _PREEMPTION,
     'if (now_ < preemption_->caught + kOneOrder) return;', ''),
    ('the round ends while its command runs', _LIFECYCLE,
     'if (announcing_until_.has_value()) return;  // it is part', '// it is part'),
    ('the verdict takes the grace away', _PREEMPTION,
     'leave_->verdict->outcome == Outcome::kPreempted;', 'false;'),
    ('any verdict leaves the grace', _PREEMPTION,
     'leave_->verdict->outcome == Outcome::kPreempted;', 'true;'),
    ('the command runs for ever', _PREEMPTION,
     'if (!announcing_until_.has_value()) return;', 'return;'),
    ('a cancel waits for the command', _PREEMPTION,
     'if (now_ < *announcing_until_ && !Cancelled()) return;',
     'if (now_ < *announcing_until_) return;'),
    ('a cancel elsewhere is none', _PREEMPTION,
     'directive_->stop.cause == StopCause::kCancelled', 'false'),
    ('a cancel that is the verdict is none', _PREEMPTION,
     'directive_->verdict.outcome == Outcome::kCancelled', 'false'),
    ('the end of the grace is a cancel', _PREEMPTION,
     'if (cancel_.has_value() && cancel_->signal != SIGTERM) return true;',
     'if (cancel_.has_value()) return true;'),
    ('a job that is cancelled is announced', _PREEMPTION,
     '  if (!Cancelled()) {\n', '  {\n'),
    ('who asks to be tried again has failed', _PREEMPTION,
     'failure.exit_code == kPreemptedExitCode', 'false'),
    ('SIGKILL spares the command', _LIFECYCLE,
     '  killed_ = true;\n  if (announcing_until_.has_value()) '
     'announcing_until_ = now_;', '  killed_ = true;'),
    ('the sweep ends the command', _LIFECYCLE,
     'if (phase_ == NodePhase::kRunning && pending_ == 0) kill_at_.reset();',
     ''),
    ('the notice is not reported', _LIFECYCLE,
     'report.preemption = PreemptionNow();', ''),
    ('a last checkpoint is a hang', _HANG,
     'if (preemption_.has_value()) return;', ''),
    ('giving up a preempted job is a failure', _LIFECYCLE,
     'if (preemption_.has_value() && exit_code == 1) {', 'if (false) {'),
    # --- nodes that are not fit
    ('who is unfit is given a place', _NODE,
     'return present() && fitness == Fitness::kFit;', 'return present();'),
    ('who is unchecked is given a place', _NODE,
     'return present() && fitness == Fitness::kFit;',
     'return present() && fitness != Fitness::kUnfit;'),
    ('who is being checked is not waited for', _PHASES,
     '} else if (nodes_.being_checked() > 0) {', '} else if (false) {'),
    ('the unfit are not named', _MEMBERSHIP,
     'if (node.kept_out()) kept_out_.insert(node.identity.node_id);', ''),
    ('who was unfit is named for ever', _MEMBERSHIP,
     'kept_out_.erase(node.identity.node_id);', ''),
    ('all of the unfit are named', _PHASES,
     'if (named == kMostNamed) return', 'if (false) return'),
    ('a round follows without a check', _LIFECYCLE,
     '''  if (phase_ == NodePhase::kIdle) step_.ends = ends_;
  fitness_.RoundEnded();''',
     '''  if (phase_ == NodePhase::kIdle) step_.ends = ends_;'''),
    ('a check runs beside the workers', _LIFECYCLE,
     'if (fitness_.RoundBegan()) step_.actions.emplace_back(DropCheck{});',
     'fitness_.RoundBegan();'),
    ('a round is not left alone', _FITNESS_WATCH, '  stopped_ = true;\n', ''),
    ('who has succeeded is checked at once', _FITNESS,
     'if (done || preemption_.has_value()) return;',
     'if (preemption_.has_value()) return;'),
    ('what was found is not reported', _FITNESS,
     '  changed_ = true;\n', ''),
    ('two checks at once', _FITNESS_WATCH,
     '''if (!interval_.has_value() || stopped_ || under_way_) return std::nullopt;
  if (next_''', '''if (!interval_.has_value() || stopped_) return std::nullopt;
  if (next_'''),
    ('the interval is not heeded', _FITNESS_WATCH,
     'if (next_.has_value() && now < *next_) return std::nullopt;', ''),
    ('a dropped check is heard', _FITNESS_WATCH,
     'if (!under_way_ || check != check_) return false;', ''),
    ('a fit node is not looked at again', _FITNESS_WATCH,
     '  next_ = now + *interval_;\n',
     '  next_ = now + *interval_ * (unfit.empty() ? 1000 : 1);\n'),
    ('what was found once stands', _FITNESS_WATCH,
     '  fitness_ = Fitness::kUnchecked;\n', ''),
)]
