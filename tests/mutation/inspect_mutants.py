"""The guards of what launch inspect says of a job; see mutants.py."""

from mutant import Mutant

_ANALYSIS = 'trainer_sdk/flight_recorder/flight_analysis.cc'
_CALLS = 'trainer_sdk/flight_recorder/flight_analysis.cc'
_DEATHS = 'trainer_sdk/flight_recorder/flight_analysis.cc'
_GROUPS = 'trainer_sdk/flight_recorder/flight_log.cc'
_MOMENT = 'trainer_sdk/flight_recorder/flight_moment.cc'
_POSITIONS = 'trainer_sdk/flight_recorder/flight_analysis.cc'
_WORDS = 'trainer_sdk/flight_recorder/flight_moment.cc'

ALL = [Mutant(*mutant) for mutant in (
    # --- who called something else
    ('an end that an agent saw is no failure', _ANALYSIS,
     '''ends_[end.rank] = &end;
      somebody_failed_ = true;''', 'ends_[end.rank] = &end;'),
    ('a mismatch is told after its group was made again', _ANALYSIS,
     'if (IsOver(call)) continue;', ''),
    ('every mismatch is told', _ANALYSIS, '''Find(text);
      return;''', 'Find(text);'),
    ('who called something else is told twice', _ANALYSIS,
     'for (const int rank : camps[i].second) blamed_.insert(rank);', ''),
    # --- who is behind
    ('the dead are behind', _ANALYSIS,
     'blamed_.insert(deaths.dead.begin(), deaths.dead.end());', ''),
    ('who was stopped on its way is behind', _ANALYSIS,
     'blamed_ = std::move(deaths.excused);', ''),
    ('who is to blame already is behind as well', _ANALYSIS,
     ' || blamed_.count(member) > 0 ||\n            last', ' ||\n            last'),
    ('who is held up elsewhere is behind', _ANALYSIS,
     '''calls_.WhoLeft(*log->second, *stuck, moment_).empty()) {
          continue;
        }''', 'calls_.WhoLeft(*log->second, *stuck, moment_).empty()) {}'),
    ('who is in what others left is held up', _ANALYSIS,
     '''!IsOf(key, *log->second, *stuck) &&
            calls_.WhoLeft(*log->second, *stuck, moment_).empty()) {''',
     '!IsOf(key, *log->second, *stuck)) {'),
    ('a root that is done has all done', _CALLS,
     '''    default:
      return false;''', '''    default:
      return true;'''),
    ('who needs no part of others has all done', _CALLS,
     'if (signature.counts_hash != 0) return false;', ''),
    ('who was failed by the dead is behind', _CALLS,
     '''if (!NeedsAll(stuck.signature) ||
      (stuck.ended != 0 &&
       stuck.status != absl::StatusCode::kDeadlineExceeded)) {''',
     'if (!NeedsAll(stuck.signature)) {'),
    ('who was late in what others left is held up', _CALLS,
     '''(stuck.ended != 0 &&
       stuck.status != absl::StatusCode::kDeadlineExceeded)) {''',
     'stuck.ended != 0) {'),
    ('who is in it as well has left', _CALLS,
     'if (own.ended != 0 && own.status', 'if (own.status'),
    ('who failed in it as well has left', _CALLS,
     'own.ended != 0 && own.status == absl::StatusCode::kOk &&',
     'own.ended != 0 &&'),
    ('who left just now has left', _CALLS,
     '''        !IsFresh(own.ended, moment) &&
''', ''),
    ('who left something else has left', _CALLS,
     ''' &&
        SameCollective(own.signature, stuck.signature)) {''', ') {'),
    ('who is left alone is told beside those to blame', _ANALYSIS,
     'if (result_.findings.empty()) FindLeftAlone();', 'FindLeftAlone();'),
    ('who is left alone is not told', _ANALYSIS,
     'if (result_.findings.empty()) FindLeftAlone();', ''),
    ('who waits as all do is left alone', _ANALYSIS,
     'if (done.empty()) continue;', ''),
    ('who is in a message of the group is behind', _ANALYSIS,
     '''return !IsPointToPoint(record.signature.kind) &&
           calls_''', 'return calls_'),
    ('who is behind is told of each operation', _ANALYSIS,
     'if (found) return;', ''),
    ('who is behind is told once for each group', _ANALYSIS,
     '''blamed_.insert(member);
        found''', 'found'),
    ('who called less is behind though its group was made again', _ANALYSIS,
     'if (calls_.WasReplaced(key)) return;', ''),
    ('who has called less is behind in a running job', _ANALYSIS,
     'if (result_.findings.empty() && somebody_failed_) FindAllShort();',
     'if (result_.findings.empty()) FindAllShort();'),
    ('who has called less is behind beside those to blame', _ANALYSIS,
     'if (result_.findings.empty() && somebody_failed_) FindAllShort();',
     'if (somebody_failed_) FindAllShort();'),
    # --- messages
    ('a message that does not fit is unanswered', _ANALYSIS,
     'if (stuck->status == absl::StatusCode::kFailedPrecondition) {',
     'if (false) {'),
    ('who is in something does not answer', _ANALYSIS,
     ' || IsHeldUp(*other->second)) continue;', ') continue;'),
    ('who is in what others left is held up in a message', _ANALYSIS,
     'return stuck != nullptr && calls_.WhoLeft(log, *stuck, moment_).empty();',
     'return stuck != nullptr;'),
    ('who came just now does not answer', _ANALYSIS,
     '} else if (!IsFresh(other->second->written, moment_)) {', '} else {'),
    ('who has done its part does not answer', _ANALYSIS,
     'if (!short_of_messages.empty()) idle = std::move(short_of_messages);',
     ''),
    ('who does not answer is told twice', _ANALYSIS,
     'if (!blamed_.insert(other->rank).second) continue;', ''),
    ('a batch with many is with nobody', _CALLS,
     'for (const auto& [place, member] : members) places.push_back(place);',
     ''),
    ('messages of any number are counted', _CALLS,
     '''        candidate.signature.sequence != sequence ||
        GroupOf''', '        GroupOf'),
    ('messages of any group are counted', _CALLS,
     ' ||\n        GroupOf(log, candidate) != key) {', ') {'),
    ('collectives are counted as messages', _CALLS,
     '''if (!IsPointToPoint(candidate.signature.kind) ||
        candidate''', 'if (candidate'),
    ('messages with anybody are counted', _CALLS,
     'std::count(peers.begin(), peers.end(), other.rank) > 0;', '1;'),
    # --- who is missing or silent
    ('an end that is known is missing', _ANALYSIS,
     ' && ends_.count(rank) == 0) {\n        missing', ') {\n        missing'),
    ('who said why is silent', _ANALYSIS,
     'if (!log->reason.empty() || log->closed', 'if (log->closed'),
    ('who ended in order is silent', _ANALYSIS,
     'if (!log->reason.empty() || log->closed ||',
     'if (!log->reason.empty() ||'),
    ('who is to blame is silent as well', _ANALYSIS,
     '|| blamed_.count(rank) > 0 ||', '||'),
    ('whose end is known is silent', _ANALYSIS,
     '''blamed_.count(rank) > 0 ||
          ends_.count(rank) > 0) {''', 'blamed_.count(rank) > 0) {'),
    # --- nobody is to blame
    ('what may differ is several operations', _ANALYSIS,
     'return signature.kind == OperationKind::kBatch ||\n'
     '           (signature',
     'return (signature'),
    ('what the last came to just now stands still', _ANALYSIS,
     'if (stuck == nullptr || GetsOn(*log, *stuck)) continue;\n'
     'const Standstill', 'if (stuck == nullptr) continue;\nconst Standstill'),
    ('what others left just now stands still', _ANALYSIS,
     'own.ended != 0 ? own.ended : own.queued', 'own.queued'),
    ('what others left long ago moves', _ANALYSIS,
     'own.ended != 0 ? own.ended : own.queued', 'own.ended'),
    ('one operation in two groups is one', _ANALYSIS,
     'if (key(a.call) != key(b.call)) return false;', ''),
    ('what has not begun is done', _POSITIONS,
     '} else if (record->ended == 0) {', '} else if (false) {'),
    # --- ends that agents saw
    ('who hung is dead', _DEATHS,
     '} else if (end->how == HowEnded::kHung) {', '} else if (false) {'),
    ('who hung is always told', _ANALYSIS,
     'if (!nobody && blamed_.count(rank) == 0) continue;', ''),
    ('who hung and is behind is not told as such', _ANALYSIS,
     'if (!nobody && blamed_.count(rank) == 0) continue;',
     'if (!nobody) continue;'),
    ('all that hung are told', _ANALYSIS, 'if (told++ < kMaxHung) {',
     'if (true) {'),
    ('who called less is not looked for before who hung', _ANALYSIS,
     '''if (result_.findings.empty()) FindAllShort();
      TellHung();''', 'TellHung();'),
    ('who called less is told beside who is to blame and hung', _ANALYSIS,
     '''if (result_.findings.empty()) FindAllShort();
      TellHung();''', 'FindAllShort();\n      TellHung();'),
    ('who called less and hung is told once', _ANALYSIS,
     '''      blamed_.insert(member);
      Find(''', '      Find('),
    ('whose operation failed is a cause', _DEATHS,
     'log == nullptr || log->reason.empty();', 'true;'),
    ('the dead are told in the order of ranks', _DEATHS,
     'return a->time < b->time;', 'return false;'),
    ('all the dead are told', _DEATHS,
     'if (deaths.sentences.size() == kMaxSentences) {', 'if (false) {'),
    ('the rest of the dead are told one by one', _DEATHS,
     '''" others ended by themselves"));
      break;''', '" others ended by themselves"));'),
    ('who a hung one waited for is excused', _DEATHS,
     'if (!deaths.dead.empty()) {', 'if (true) {'),
    # --- when it is looked at
    ('the present is when something was recorded last', _MOMENT,
     'moment.now = *clock;', ''),
    ('an end is no sign of a time', _MOMENT,
     'moment.now = std::max(moment.now, end.time);', ''),
    ('a clock counts after the end', _MOMENT,
     'if (!clock || !ends.empty()) return moment;',
     'if (!clock) return moment;'),
    ('who has failed is waited for', _MOMENT,
     'if (!failed) moment.patience = kPatience;',
     'moment.patience = kPatience;'),
    ('nobody is waited for', _MOMENT,
     'if (!failed) moment.patience = kPatience;', ''),
    ('a job that runs has ended', _MOMENT, 'moment.running = true;', ''),
    ('without patience what begins later is on its way', _MOMENT,
     'moment.patience > 0 && ', ''),
    # --- groups
    ('groups that are alike are one', _GROUPS, 'key.nth = ++alike[key];', ''),
    ('groups made before make amends', _GROUPS,
     'if (later.made >= since &&\n        (', 'if (('),
    ('any group makes amends', _GROUPS,
     '(later.name == name ||\n         absl', '(true ||\n         absl'),
    ('parts of a group that was made again are stuck', _GROUPS,
     '''(later.name == name ||
         absl::StartsWith(name, absl::StrCat(later.name, "/")))) {''',
     'later.name == name) {'),
    ('names that begin alike are parts', _GROUPS,
     'absl::StrCat(later.name, "/")', 'later.name'),
    ('groups of one name and other members are numbered', _GROUPS,
     '''log.groups[i].name == named.name &&
        log.groups[i].members == named.members) {''',
     'log.groups[i].name == named.name) {'),
    # --- words
    ('what failed is over', _WORDS,
     ''' ||
         (record.ended != 0 && record.status != absl::StatusCode::kOk &&
          !WasMadeAgain(log, record.group, record.ended));''', ';'),
    ('what failed is never over', _WORDS,
     ' &&\n          !WasMadeAgain(log, record.group, record.ended));', ');'),
    ('who is on its way waits', _WORDS,
     'record.in_progress() && !IsFresh(record.started, moment)',
     'record.in_progress()'),
    ('what has not begun was done', _WORDS, '} else if (last.ended != 0) {',
     '} else {'),
    ('what was begun had not begun', _WORDS, 'if (last.in_progress()) {',
     'if (false) {'),
    ('clocks that differ tell of times below zero', _WORDS,
     'std::max(0.0, seconds)', 'seconds'),
)]
