"""The guards of the round's store; see mutants.py."""

from mutant import Mutant

_CORE = 'store/core/store_core.cc'
_OFFERS = 'store/core/offer_list.cc'
_WAITING = 'store/core/waiting_list.cc'
_BARRIERS = 'store/core/barrier_list.cc'
_WATCHES = 'store/core/watch_list.cc'
_BUDGET = 'store/server/buffer_budget.cc'

ALL = [Mutant(*mutant) for mutant in (
    # --- what the store may hold
    ('offers cost nothing', _CORE, ' + offers_.bytes() +', ' +'),
    ('barriers cost nothing', _CORE, ' + barriers_.bytes()', ''),
    ('what shrinks needs room', _CORE,
     'return size > before ? size - before : 0;', 'return size - before;'),
    ('what is larger than the store fits', _CORE,
     'more <= max_bytes_ && bytes()', 'bytes()'),
    ('what was replaced is still counted', _CORE,
     'stored_bytes_ -= entry->second.size();', ''),
    ('what was deleted is still counted', _CORE,
     'stored_bytes_ -= Cost(entry->first, entry->second);', ''),
    ('an empty queue is still counted', _CORE,
     'stored_bytes_ -= kBytesPerQueue + queue->first.size();', ''),
    ('what was appended is not counted', _CORE,
     'stored_bytes_ += request.value.size();', ''),
    ('any number of values may be set', _CORE,
     '''if (HasRoom(client, request, Growth(request.key, request.value.size()),
                  effects)) {''', '{'),
    ('any number of values may be compared and set', _CORE,
     '''if (!HasRoom(client, request, Growth(request.key, request.value.size()),
                 effects)) {''', 'if (false) {'),
    ('any number of counters may be made', _CORE,
     'Growth(request.key, digits.size()) + beside;', 'beside;'),
    ('any number of waits may be', _CORE,
     'if (HasRoom(client, request, cost, effects)) waits_',
     'waits_'),
    ('any number of offers may be', _CORE,
     '''    if (!HasRoom(client, request, cost, effects)) return;
    kind =''', '    kind ='),
    ('any amount may be appended', _CORE,
     'if (!HasRoom(client, request, more, effects)) return;', ''),
    ('any number of values may be set at once', _CORE,
     '''  // Set all values or none.
  if (!HasRoom(client, request, cost, effects)) return;''', ''),
    ('any number of elements may be pushed', _CORE,
     '''  if (!HasRoom(client, request, cost, effects)) return;
  auto queue''', '  auto queue'),
    ('any number may stand at barriers', _CORE,
     'Growth(request.key, digits.size()) + beside;',
     'Growth(request.key, digits.size());'),
    ('any number of watches may be', _CORE,
     '''  if (!HasRoom(client, request, cost, effects)) return;
  watches_''', '  watches_'),
    ('watchers are told any amount', _CORE, 'if (told > kMaxToldBytes) {',
     'if (false) {'),
    ('values grow beyond their bound', _CORE,
     'if (before + request.value.size() > kMaxStoreValueBytes) {',
     'if (false) {'),
    ('many values are any number of bytes', _CORE,
     '''if (size > kMaxStoreReplyBytes) {
    effects->AddClose(
        client, absl::StrCat("MULTI_GET''', '''if (false) {
    effects->AddClose(
        client, absl::StrCat("MULTI_GET'''),
    ('a list of keys is any number of bytes', _CORE,
     '''if (size > kMaxStoreReplyBytes) {
    effects->AddClose(
        client, absl::StrCat("LIST_KEYS''', '''if (false) {
    effects->AddClose(
        client, absl::StrCat("LIST_KEYS'''),
    # --- what the store does
    ('a missing key is as expected, whatever is', _CORE,
     '? request.expected.empty()', '? true'),
    ('what is no number counts as one', _CORE,
     'end == value.c_str() || ', ''),
    ('a number beyond 64 bits is one', _CORE, ' || errno == ERANGE', ''),
    ('sums leave 64 bits', _CORE,
     '|| __builtin_add_overflow(*before, amount, &sum)) {',
     '|| (__builtin_add_overflow(*before, amount, &sum), false)) {'),
    ('an element there is for all who wait', _CORE,
     '''kind = StoreEffects::Kind::kReplyToOne;
    offers_.Add(client, queue);''', ''),
    ('what is offered is there for who comes next', _CORE,
     'if (pops ? HasSpare(key) : Find(key) != There::kNo) continue;',
     'if (Find(key) != There::kNo) continue;'),
    ('a queue among other keys is there for one', _CORE,
     'request.keys.size() == 1 && Find(request.keys[0])',
     '!request.keys.empty() && Find(request.keys.back())'),
    ('an element is offered to two', _CORE,
     'elements->second.size() > offers_.CountOf(queue);', 'true;'),
    ('what nobody came for is offered to nobody', _CORE,
     '''  for (const std::string& queue : offers_.TakeOld()) {
    OfferToNext(queue, effects);
  }''', '  offers_.TakeOld();'),
    ('an offer is never old', _OFFERS, 'offer->second.old = true;', ''),
    ('an offer is old at once', _OFFERS, 'if (offer->second.old) {',
     'if (true) {'),
    ('queues are kept that have no offers', _OFFERS,
     'if (--count->second == 0) counts_.erase(count);', ''),
    ('an offer that is over is counted', _OFFERS,
     'bytes_ -= kBytesPerOffer + queue.size();', ''),
    ('watchers do not see what is appended', _CORE,
     'if (entry == values_.end() || !watches_.empty()) {',
     'if (entry == values_.end()) {'),
    ('a request for nothing is answered', _CORE,
     'if (found.empty()) return;', ''),
    ('an empty queue offers an element', _CORE,
     ' || !HasSpare(queue)) return;', ') return;'),
    ('an element that is not taken wakes nobody', _CORE,
     'if (offered && !comes) OfferToNext(*offered, effects);', ''),
    ('an element is offered to others before its pop', _CORE,
     'if (offered && !comes) OfferToNext', 'if (offered) OfferToNext'),
    ('any queue\'s pop takes an offer', _CORE,
     ' && request.key == offered;', ';'),
    ('who waits again keeps its offer', _CORE,
     '''  if (offered && !comes) OfferToNext(*offered, effects);
  Perform(client, request, effects);''', '''  Perform(client, request, effects);
  if (offered && !comes) OfferToNext(*offered, effects);'''),
    ('an offer dies with its client', _CORE,
     '''offers_.Take(client);
  if (offered) OfferToNext(*offered, effects);''', 'offers_.Take(client);'),
    ('a client waits twice', _CORE,
     '''// A client has at most one wait, so it has given up the previous one.
  DropWait(client, effects);''', ''),
    ('who waits at a barrier still waits elsewhere', _CORE,
     '''  DropWait(client, effects);
  const size_t cost = BarrierList''', '  const size_t cost = BarrierList'),
    ('who is gone still waits', _CORE, '''  DropWait(client, effects);
  watches_.Remove''', '  watches_.Remove'),
    ('who is gone still watches', _CORE, 'watches_.Remove(client);', ''),
    ('who gave a barrier up has come', _CORE,
     'if (count && *count > 0) Put(', 'if (false) Put('),
    ('a barrier counts below zero', _CORE,
     'if (count && *count > 0)', 'if (count)'),
    ('a barrier counts what is no number', _CORE,
     'const std::optional<int64_t> count = NumberIn(entry->second);\n  if (',
     'const std::optional<int64_t> count = '
     'NumberIn(entry->second).value_or(1);\n  if ('),
    ('a deleted barrier is there again', _CORE,
     '''if (entry == values_.end()) return;
  const std::optional<int64_t> count = NumberIn(entry->second);''',
     '''const std::optional<int64_t> count =
      entry == values_.end() ? 1 : NumberIn(entry->second);'''),
    ('a relay may be in a relay', _CORE,
     'effects->AddClose(client, "RELAY inside a relay\'s frames");', ''),
    # --- who waits
    ('a key named twice is awaited twice', _WAITING,
     'if (wait.missing.emplace(queue->first, queue).second) {',
     'wait.missing.emplace(queue->first, queue);\n    {'),
    ('a key that has come is still counted', _WAITING,
     '''erase(key) == 1);
  bytes_ -= kBytesPerKey + key.size();''', 'erase(key) == 1);'),
    ('an element is for the first alone', _WAITING,
     'while (!over && !queue->second.empty()) {',
     'if (!over && !queue->second.empty()) {'),
    ('a queue that nobody waits for any more is kept', _WAITING,
     '''  if (queue->second.empty()) queues_.erase(queue);
  return over;''', '  return over;'),
    ('a wait given up is still counted', _WAITING,
     '''{
    bytes_ -= kBytesPerKey + key.size();
    queue->second.erase''', '''{
    queue->second.erase'''),
    ('who gave up is still in line', _WAITING,
     'queue->second.erase(wait->second.ticket);', ''),
    ('a key that nobody waits for any more is kept', _WAITING,
     'if (queue->second.empty()) queues_.erase(queue);\n  }', '}'),
    # --- barriers
    ('who was let go still stands there', _BARRIERS,
     'stands_.erase(first->second);', ''),
    ('who was let go is still counted', _BARRIERS,
     '''bytes_ -= kBytesPerClient + key.size();
    queue->second.erase(first);''', 'queue->second.erase(first);'),
    ('a barrier that is over is kept', _BARRIERS,
     '''if (queue->second.empty()) queues_.erase(queue);
  return released;''', 'return released;'),
    ('who gave a barrier up stands there', _BARRIERS,
     'queue->second.erase(stand->second.place);', ''),
    ('a barrier that all gave up is kept', _BARRIERS,
     'if (queue->second.empty()) queues_.erase(queue);\n  stands_', 'stands_'),
    ('who gave a barrier up is still counted', _BARRIERS,
     '''bytes_ -= kBytesPerClient + key.size();
  return key;''', 'return key;'),
    # --- watches
    ('a key watched twice is counted twice', _WATCHES,
     'if (!clients_[client].emplace(key).second) return;',
     'clients_[client].emplace(key);'),
    ('who is gone is told', _WATCHES, 'watched->second.erase(client);', ''),
    ('a key that nobody watches any more is kept', _WATCHES,
     'if (watched->second.empty()) keys_.erase(watched);', ''),
    ('a watch that is over is still counted', _WATCHES,
     'bytes_ -= kBytesPerWatch + 2 * key.size();', ''),
    ('who watches nothing any more is kept', _WATCHES,
     'clients_.erase(watches);', ''),
    # --- buffers
    ('a wait for readers that is over goes on', _BUDGET,
     'if (!RequestsWait()) wait_began_.reset();', ''),
    ('to read nothing is to read', _BUDGET, 'if (bytes == 0) return;', ''),
    ('nobody waits and somebody is late', _BUDGET,
     'if (!RequestsWait()) return false;', ''),
    ('who reads is late as well', _BUDGET,
     '!wait_began_ || read_ > max_bytes_ / kLeastReadPart', '!wait_began_'),
    ('a byte now and then is enough', _BUDGET,
     'read_ > max_bytes_ / kLeastReadPart', 'read_ > 0'),
    ('who ever read is never to blame', _BUDGET, '++wait_;', ''),
    ('what was read once counts again', _BUDGET, '    read_ = 0;\n', ''),
    ('who reads is ended for what it was sent', _BUDGET,
     'if (outgoing_ <= bytes_ / 2) {', 'if (false) {'),
    ('half a request is ended before a huge answer', _BUDGET,
     'if (outgoing_ <= bytes_ / 2) {', 'if (true) {'),
    ('who holds nothing blocks others', _BUDGET,
     'one.outgoing == 0 || other.outgoing == 0 || ', ''),
    ('who reads blocks as who does not', _BUDGET,
     'return other_reads;', 'return one.outgoing > other.outgoing;'),
)]
