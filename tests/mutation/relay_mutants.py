"""The guards of the store's bytes and of its relay; see mutants.py."""

from mutant import Mutant

_COMMAND = 'store/wire/command.cc'
_PARSER = 'store/wire/request_parser.cc'
_FRAMES = 'store/wire/relay_frames.cc'
_REPLY = 'store/wire/reply.cc'
_RELAY = 'store/relay/relay_core.cc'

ALL = [Mutant(*mutant) for mutant in (
    # --- requests
    ('any byte is a modern command', _COMMAND,
     'if (byte > static_cast<uint8_t>(StoreCommand::kBarrier)) return {};',
     'if (byte > static_cast<uint8_t>(StoreCommand::kBarrier)) '
     'return StoreCommand::kPing;'),
    ('any byte is an old command', _COMMAND,
     '''    return static_cast<StoreCommand>(byte);
  }
  return {};
}''', '''    return static_cast<StoreCommand>(byte);
  }
  return StoreCommand::kGet;
}'''),
    ('an old client is told by its first byte', _PARSER,
     'if (byte == 0 && !Has(buffer, kOpeningBytes)) return false;',
     'if (byte == 0 && !Has(buffer, kOpeningBytes)) '
     'buffer = std::string_view("\\0\\0\\0\\0\\0", 5);'),
    ('each client that begins with 0 is a modern one', _PARSER,
     'byte == 0 && ReadInteger<uint32_t>(buffer.substr(1)) == kStoreMagic;',
     'byte == 0;'),
    ('VALIDATE may come twice, or not at all', _PARSER,
     'if ((*command == StoreCommand::kValidate) != opens) {', 'if (false) {'),
    ('a request may have any number of keys', _PARSER,
     'if (count > kMaxStoreKeys) {', 'if (false) {'),
    ('a key may be as large as a value', _PARSER,
     'key ? kMaxStoreKeyBytes : kMaxStoreValueBytes;', 'kMaxStoreValueBytes;'),
    ('later keys may be as large as values', _PARSER,
     'return index % shape_.strings_per_item == 0;', 'return index == 0;'),
    ('a value may be of any size', _PARSER, 'if (size > most) {',
     'if (key && size > most) {'),
    ('a request may be of any size', _PARSER,
     'if (at_ + sizeof(uint64_t) + size > kMaxStoreRequestBytes) {',
     'if (false) {'),
    ('the parser looks at bytes again', _PARSER,
     'wanted_ = at_ + bytes;', 'wanted_ = 1;'),
    ('the keys of the last request are there still', _PARSER,
     'request->keys.clear();', ''),
    ('the parser keeps the memory of the largest request', _PARSER,
     'if (spans_.capacity() > kUsualStrings) spans_.shrink_to_fit();', ''),
    # --- frames and replies
    ('any kind of frame is one', _FRAMES,
     'if (kind > static_cast<uint8_t>(RelayFrameKind::kGone)) {',
     'if (false) {'),
    ('a frame may be of any size', _FRAMES, 'if (size > max_bytes) {',
     'if (false) {'),
    ('half a frame is one', _FRAMES,
     'if (buffer.size() - kHeaderBytes < size) return 0;', ''),
    ('a store may count below zero', _REPLY, 'if (reply->number < 0) {',
     'if (false) {'),
    ('a store may answer with any amount', _REPLY,
     'if (size > kMaxStoreValueBytes) {', 'if (false) {'),
    ('half a value is one', _REPLY,
     'if (buffer.size() - at_ - sizeof(uint64_t) < size) return 0;', ''),
    # --- the relay
    ('who is at a barrier cannot cancel', _RELAY,
     'if (request.command == StoreCommand::kBarrier) return false;', ''),
    ('an answer to nothing is waited for', _RELAY,
     '''  if (request.command == StoreCommand::kMultiGet && request.keys.empty()) {
    return false;
  }''', ''),
    ('channels are not used again', _RELAY, 'if (idle_channels_.empty()) {',
     'if (true) {'),
    ('a channel that was given up still has answers', _RELAY,
     'uses_.erase(channel);\n  AppendRelayFrame', 'AppendRelayFrame'),
    ('upstream is not told who is gone', _RELAY,
     '''  AppendRelayFrame({.channel = channel, .kind = RelayFrameKind::kGone},
                   effects->AddReply(upstream_));''', ''),
    ('any number of waits is remembered', _RELAY,
     '''if (!MayHold(client, bytes.size(), effects)) return;
    waits =''', '''MayHold(client, bytes.size(), effects);
    waits ='''),
    ('any number of reads is remembered', _RELAY,
     '''if (!MayHold(client, bytes.size(), effects)) return;
    reads =''', '''MayHold(client, bytes.size(), effects);
    reads ='''),
    ('who is offered an element has no channel', _RELAY,
     'offers_[first] = frame.channel;', ''),
    ('an offer\'s channel is still the wait\'s', _RELAY,
     'uses_[frame.channel] = {.offered = first};', ''),
    ('nobody waits on behind an offer', _RELAY,
     '''} else {
      waits->second.channel = TakeChannel({.waits = waits});
      SendUpstream(waits->second.channel, waits->first, effects);''',
     '} else {'),
    ('an offer that upstream ended is settled', _RELAY,
     'if (use.offered) offers_.erase(*use.offered);', ''),
    ('what is said of an offer is an answer', _RELAY,
     '} else if (use.client) {', '} else {'),
    ('who left a wait is answered', _RELAY,
     'std::erase(waits->second.clients, client);', ''),
    ('who leaves a wait ends it for all', _RELAY,
     'if (waits->second.clients.empty()) {', 'if (true) {'),
    ('a wait that is over is still counted', _RELAY,
     'void RelayCore::End(WaitsByRequest::iterator waits) {\n'
     '  held_bytes_ -= kBytesPerGroup + waits->first.size();',
     'void RelayCore::End(WaitsByRequest::iterator waits) {'),
    ('an offer\'s channel is used no more', _RELAY,
     'idle_channels_.push_back(offer->second);', ''),
    ('what crossed a refusal keeps its channel', _RELAY,
     'own_channels_.erase(*use.client);\n    Drop(frame.channel, effects);',
     'own_channels_.erase(*use.client);'),
    ('upstream does not hear that an offer is over', _RELAY,
     'Drop(offer->second, effects);', ''),
    ('a read joins one under way', _RELAY,
     'reads->second.next.push_back(client);',
     'reads->second.asked.push_back(client);'),
    ('who reads may ask for more', _RELAY, '} busy_.insert(client);', '}'),
    ('who is to be answered may ask for more', _RELAY,
     'if (AnsweredAtOnce(request)) busy_.insert(client);', ''),
    ('an old client waits for ever', _RELAY,
     'way == Way::kWait || framing == StoreFraming::kOld;',
     'way == Way::kWait;'),
    ('who waits anew waits twice', _RELAY,
     'way == Way::kWait || framing == StoreFraming::kOld;',
     'framing == StoreFraming::kOld;'),
    ('a cancel is answered here, whoever waits', _RELAY,
     'if (cancels && waited) {', 'if (cancels) {'),
    ('an offer is not settled', _RELAY,
     '''  // Settle the offer after the request, so that a pop finds its element.
  SettleOffer(client, effects);''', ''),
    ('who is gone waits', _RELAY,
     '''  LeaveWait(client, effects);
  const auto own''', '  const auto own'),
    ('who is gone keeps its channel', _RELAY,
     'Drop(own->second, effects);', ''),
    ('who is gone keeps its offer', _RELAY,
     '''  SettleOffer(client, effects);
  // Reads''', '  // Reads'),
    ('who is gone is answered', _RELAY, '''by themselves.
  busy_.erase(client);''', 'by themselves.'),
    ('who was offered an element waits on', _RELAY,
     'waiting_.erase(first);', ''),
    ('a wait that was answered is still there', _RELAY,
     '''  Rest(waits->second.channel);
  End(waits);''', '  Rest(waits->second.channel);'),
    ('a wait whose last one was offered something is there', _RELAY,
     '''    if (clients.empty()) {
      End(waits);
    } else {''', '''    if (clients.empty()) {
    } else {'''),
    ('who is gone is read for', _RELAY, 'if (!Busy(client)) continue;', ''),
    ('an answer goes to any number at once', _RELAY,
     'sent + frame.bytes.size() > limits_.fan_out_bytes', 'false'),
    ('a large answer is for nobody', _RELAY,
     'if (sent > 0 && sent +', 'if (sent +'),
    ('what nobody wants is read again', _RELAY,
     'if (Busy(client)) left.push_back(client);', 'left.push_back(client);'),
    ('a read that is over is still counted', _RELAY,
     '''  Rest(reads->second.channel);
  held_bytes_ -= kBytesPerGroup + reads->first.size();''',
     '  Rest(reads->second.channel);'),
    ('who was refused keeps its channel', _RELAY,
     'own_channels_.erase(*use.client);', ''),
    ('a refused wait is still counted', _RELAY,
     '''    End(waits);
  }
  if (use.offered)''', '''    waits_.erase(waits);
  }
  if (use.offered)'''),
    ('a refused read is still counted', _RELAY,
     '''    held_bytes_ -= kBytesPerGroup + reads->first.size();
    reads_.erase(reads);
  }
}''', '''    reads_.erase(reads);
  }
}'''),
    ('who is gone is refused', _RELAY,
     'if (Busy(client)) effects->AddClose', 'effects->AddClose'),
    ('a refused channel is used again', _RELAY, '    uses_.erase(found);\n',
     ''),
    ('who was answered may ask no more', _RELAY,
     'busy_.erase(*use.client);', ''),
)]
