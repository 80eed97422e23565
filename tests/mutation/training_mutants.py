"""The guards of the training library's pure cores; see mutants.py."""

from mutant import Mutant

_TRACKER = 'trainer_sdk/ddp/backward_tracker.cc'
_BUCKETS = 'trainer_sdk/ddp/bucket_assignment.cc'
_POWER_SGD = 'trainer_sdk/ddp/power_sgd_state.cc'
_SHARDS = 'trainer_sdk/zero/shard_partition.cc'
_PLAN = 'trainer_sdk/optim/step_plan.cc'
_SCALER = 'trainer_sdk/optim/loss_scaler.cc'
_NORM = 'trainer_sdk/optim/gradient_norm.cc'

ALL = [Mutant(*mutant) for mutant in (
    # --- the backward pass
    ('buckets are reduced as they fill up', _TRACKER,
     'while (next_ < static_cast<int>(left_.size()) && left_[next_] == '
     '0) {',
     'if (next_ < static_cast<int>(left_.size()) && left_[next_] == 0) {'),
    ('accumulating passes are reduced', _TRACKER,
     'if (sync_ == GradientSync::kAccumulate) return;',
     ''),
    ('a gradient may be marked twice', _TRACKER,
     'if (state.missing == 0) {\n'
     '    return absl::FailedPreconditionError(\n'
     '        use_',
     'if (false) {\n'
     '    return absl::FailedPreconditionError(\n'
     '        use_'),
    ('a pass may begin before the last is over', _TRACKER,
     'if (phase_ == Phase::kRunning) {\n'
     '    return absl::FailedPreconditionError(absl::StrCat(',
     'if (false) {\n'
     '    return absl::FailedPreconditionError(absl::StrCat('),
    ('a mark outside of a pass counts', _TRACKER,
     'return phase_ == Phase::kRunning && parameter >= 0 &&',
     'return parameter >= 0 &&'),
    ('any number is a parameter', _TRACKER,
     'return phase_ == Phase::kRunning && parameter >= 0 &&\n'
     '         static_cast<size_t>(parameter) < states_.size();',
     'return phase_ == Phase::kRunning;'),
    ('missing gradients go unnoticed', _TRACKER,
     'if (all_needed && undone_ > 0) {',
     'if (false) {'),
    ('a static graph may leave others out', _TRACKER,
     'use_ == ParameterUse::kAll || (use_ == ParameterUse::kStatic && '
     'learned_);',
     'use_ == ParameterUse::kAll;'),
    ('use outlives the step', _TRACKER,
     'if (reduced_) state.used = false;',
     ''),
    ('use is forgotten between the passes of a step', _TRACKER,
     'if (reduced_) state.used = false;',
     'state.used = false;'),
    ('a static graph never learns', _TRACKER,
     'if (sync_ == GradientSync::kReduce) learned_ = reduced_ = true;',
     'if (sync_ == GradientSync::kReduce) reduced_ = true;'),
    ('a static graph learns from a pass that is not reduced', _TRACKER,
     'if (sync_ == GradientSync::kReduce) learned_ = reduced_ = true;',
     'learned_ = true;\n'
     '  if (sync_ == GradientSync::kReduce) reduced_ = true;'),
    ('a static graph adds up how often of several passes', _TRACKER,
     'if (Learning()) state.times = 0;',
     ''),
    ('what a static graph leaves out is waited for', _TRACKER,
     'if (states_[i].missing == 0) Done(static_cast<int>(i), full);',
     ''),
    ('a gradient that is added to is reduced too early', _TRACKER,
     'if (--state.missing > 0) return absl::OkStatus();',
     '--state.missing;'),
    ('unused parameters may be marked in any graph', _TRACKER,
     'if (use_ != ParameterUse::kMayVary) {',
     'if (false) {'),
    ('a parameter may be unused after its gradient came', _TRACKER,
     'if (state.done) {\n'
     '    return',
     'if (false) {\n'
     '    return'),
    ('the observed order leaves parameters out', _TRACKER,
     'if (!there[i]) order.push_back(static_cast<int>(i));',
     ''),
    ('ranks do not tell each other what a static graph uses', _TRACKER,
     'return use_ == ParameterUse::kMayVary || Learning();',
     'return use_ == ParameterUse::kMayVary;'),
    ('every parameter is named', _TRACKER,
     'if (++missing <= kMaxNamed) {',
     'if (++missing > 0) {'),
    # --- buckets
    ('a bucket closes only beyond its limit', _BUCKETS,
     'if (open.bytes >= (',
     'if (open.bytes > ('),
    ('the first bucket is as long as the others', _BUCKETS,
     '(open.first ? limits.first_bytes : limits.bytes)',
     '(limits.bytes)'),
    ('types are mixed in a bucket', _BUCKETS,
     'open_by_type[static_cast<size_t>(type)]',
     'open_by_type[0]'),
    ('buckets that never fill come in the order of types', _BUCKETS,
     'return a.place < b.place; });',
     'return &a < &b; });'),
    ('empty buckets are made', _BUCKETS,
     'if (!open.parameters.empty()) '
     'buckets.push_back(std::move(open.parameters));',
     'buckets.push_back(std::move(open.parameters));'),
    # --- shards
    ('a shard is not told of what is left over', _SHARDS,
     'std::min<int64_t>(rank, count % ranks)',
     '0'),
    ('shards overflow', _SHARDS,
     'count / ranks * rank + std::min<int64_t>(rank, count % ranks)',
     'count * rank / ranks'),
    ('empty pieces are made', _SHARDS,
     'if (first >= last) continue;',
     ''),
    ('a piece is told by its place in the bucket', _SHARDS,
     '{{part.parameter, first - part.offset, last - part.offset},',
     '{{part.parameter, first, last},'),
    ('a piece lies where its parameter does', _SHARDS,
     '           first});',
     '           part.offset});'),
    ("a rank takes another's shard", _SHARDS,
     'const int64_t begin = ShardBegin(bucket.count, rank, ranks, form);',
     'const int64_t begin = 0;'),
    ("a rank's part on a device begins anywhere", _SHARDS,
     'count / ranks / kAlignment * kAlignment * rank',
     'count / ranks * rank'),
    ("what equal parts leave on a device is nobody's", _SHARDS,
     'rank == ranks ? count\n'
     '                         : ',
     ''),
    # --- the plan of a step
    ('the next scale is taken off', _PLAN,
     'const double squares = sum_of_squares * inverse * inverse;',
     'const double inverse_now = scaler == nullptr ? 1 : 1 / '
     'scaler->scale();\n'
     '  const double squares = sum_of_squares * inverse_now * '
     'inverse_now;'),
    ('a scaled gradient is clipped', _PLAN,
     'const double squares = sum_of_squares * inverse * inverse;',
     'const double squares = sum_of_squares;'),
    ('without a scaler anything is stepped', _PLAN,
     'plan.verdict = finite == Finite::kAll ? '
     'LossScaler::Verdict::kStep\n'
     '                                        : '
     'LossScaler::Verdict::kSkip;',
     ''),
    ('a norm of 0 is a bound', _PLAN,
     'if (most > 0) plan',
     'plan'),
    # --- the loss scale
    ('an overflow keeps the count of good steps', _SCALER,
     'state_ = {.scale = state_.scale * options_.backoff, .good_steps = '
     '0};',
     'state_.scale *= options_.backoff;'),
    ('a scale grows once', _SCALER,
     'state_ = {.scale = state_.scale * options_.growth, .good_steps = '
     '0};',
     'state_.scale *= options_.growth;'),
    ('an overflow is stepped', _SCALER,
     'return Verdict::kSkip;',
     ''),
    # --- clipping
    ('gradients are made longer', _NORM,
     'return coefficient > 1 ? 1 : coefficient;',
     'return coefficient;'),
    # --- PowerSGD's state in a checkpoint
    ('PowerSGD compresses what is reduced in another type', _POWER_SGD,
     'if (tensor.gradient.dtype != DType::kFloat32 || tensor.rows() < 2) {',
     'if (tensor.rows() < 2) {'),
    ('PowerSGD compresses what gets no smaller', _POWER_SGD,
     'sent * least_rate < static_cast<double>(tensor.count())',
     'true'),
    ('PowerSGD reads the losses of another matrix', _POWER_SGD,
     '*found != ErrorTensor(matrix, static_cast<int>(ranks))',
     'false'),
    ('PowerSGD reads what nobody saved', _POWER_SGD,
     'if (saved_ranks_ == 0) {\n'
     '    return absl::NotFoundError(',
     'if (false) {\n'
     '    return absl::NotFoundError('),
    ('PowerSGD takes over the losses of one rank at most', _POWER_SGD,
     'return rank < saved ? (saved - 1 - rank) / ranks + 1 : 0;',
     'return rank < saved ? 1 : 0;'),
    ('PowerSGD takes over losses of who was not there', _POWER_SGD,
     'return rank < saved ? (saved - 1 - rank) / ranks + 1 : 0;',
     'return (saved - 1 - rank) / ranks + 1;'),
    ('PowerSGD adds losses to its own', _POWER_SGD,
     'std::fill(error.begin(), error.end(), 0.0f);',
     ''),
    ('PowerSGD weighs losses as if there were as many ranks', _POWER_SGD,
     'for (float& value : error) value *= factor;',
     ''),
    ('PowerSGD remembers a reading that was given up', _POWER_SGD,
     'saved_ranks_ = 0;\n'
     '  shares_.clear();\n'
     '  for (',
     'for ('),
)]
