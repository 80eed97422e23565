#include "models/gpt_cuda/cuda_gpt_stage.h"

#include <cstddef>

#include "models/cuda/kernels/kernels.h"
#include "models/cuda/kernels/token_rows.h"

namespace muster::models::cuda {
namespace {

constexpr char kPositionTable[] = "transformer.wpe.weight";

void CopyIn(Device& device, const std::vector<int32_t>& from, int32_t* to) {
  device.CopyIn(to, from.data(),
                static_cast<int64_t>(from.size() * sizeof(int32_t)));
}

}  // namespace

template <typename T>
CudaGptStage<T>::CudaGptStage(Device& device, CudaGptWeights<T>& weights,
                              int64_t batch, int64_t time,
                              Checkpointing checkpointing)
    : device_(device),
      weights_(weights),
      batch_(batch),
      time_(time),
      checkpointing_(checkpointing),
      block_(device, weights.config(), batch, time),
      arrays_(device),
      inner_(arrays_.Add<T>(stream_count())) {}

template <typename T>
absl::StatusOr<std::unique_ptr<CudaGptStage<T>>> CudaGptStage<T>::Create(
    Device& device, CudaGptWeights<T>& weights, int64_t batch, int64_t time,
    Checkpointing checkpointing) {
  std::unique_ptr<CudaGptStage> stage(
      new CudaGptStage(device, weights, batch, time, checkpointing));
  if (!stage->block_.status().ok()) return stage->block_.status();
  if (!stage->arrays_.status().ok()) return stage->arrays_.status();
  return stage;
}

template <typename T>
absl::StatusOr<std::unique_ptr<CudaGptMicroBatch<T>>>
CudaGptStage<T>::NewMicroBatch() const {
  std::unique_ptr<CudaGptMicroBatch<T>> made(new CudaGptMicroBatch<T>(device_));
  DeviceArrays& arrays = made->arrays;
  if (has_embeddings()) {
    made->tokens_there = arrays.Add<int32_t>(rows());
    made->tokens_found = arrays.Add<int32_t>(rows());
    made->begins = arrays.Add<int32_t>(rows() + 1);
    made->rows = arrays.Add<int32_t>(rows());
  }
  for (int64_t i = 0; i <= layer_count(); ++i) {
    made->stream.push_back(arrays.Add<T>(stream_count()));
  }
  const int64_t kept =
      checkpointing_ == Checkpointing::kBlocks ? 1 : layer_count();
  for (int64_t i = 0; i < kept; ++i) {
    made->blocks.push_back(block_.NewActivations(arrays));
  }
  if (has_head()) {
    made->targets_there = arrays.Add<int32_t>(rows());
    made->final_norm = block_.NewNorm(arrays);
    made->logits = arrays.Add<T>(rows() * classes());
    made->losses = arrays.Add<float>(rows());
    made->mean_loss = arrays.Add<double>(1);
  }
  if (!arrays.status().ok()) return arrays.status();
  return made;
}

template <typename T>
const CudaBlockActivations<T>& CudaGptStage<T>::Kept(
    const CudaGptMicroBatch<T>& micro_batch, int64_t block) const {
  const bool shared = checkpointing_ == Checkpointing::kBlocks;
  return micro_batch.blocks[shared ? 0 : static_cast<size_t>(block)];
}

template <typename T>
const T* CudaGptStage<T>::Forward(CudaGptMicroBatch<T>* micro_batch,
                                  const T* input) const {
  T* const first = micro_batch->stream.front();
  if (has_embeddings()) {
    CopyIn(device_, micro_batch->tokens, micro_batch->tokens_there);
    EmbeddingForward<T>(
        {.batch = batch_, .time = time_, .width = width()},
        micro_batch->tokens_there, weights_.Find(kTokenTable).value,
        weights_.Find(kPositionTable).value, first, device_.stream());
  } else {
    device_.Copy(first, input,
                 stream_count() * static_cast<int64_t>(sizeof(T)));
  }
  for (int64_t i = 0; i < layer_count(); ++i) {
    const auto at = static_cast<size_t>(i);
    block_.Forward(weights_.Block(weights_.layers().first + i),
                   micro_batch->stream[at], Kept(*micro_batch, i),
                   micro_batch->stream[at + 1]);
  }
  return micro_batch->stream.back();
}

template <typename T>
void CudaGptStage<T>::Logits(CudaGptMicroBatch<T>* micro_batch) const {
  CopyIn(device_, micro_batch->targets, micro_batch->targets_there);
  block_.Norm(weights_.FinalNorm(), micro_batch->stream.back(),
              micro_batch->final_norm);
  device_.Multiply(
      {.a = Matrix::Dense(micro_batch->final_norm.output, rows(), width()),
       .b_form = MatrixForm::kTransposed,
       .b = Matrix::Dense(weights_.Find(kTokenTable).value, classes(), width()),
       .result = Matrix::Dense(micro_batch->logits, rows(), classes())});
}

template <typename T>
void CudaGptStage<T>::Loss(CudaGptMicroBatch<T>* micro_batch,
                           float factor) const {
  Logits(micro_batch);
  CrossEntropyWithGradient(micro_batch->logits, micro_batch->targets_there,
                           rows(), weights_.config().vocabulary, classes(),
                           factor, micro_batch->losses, micro_batch->mean_loss,
                           device_.stream());
}

template <typename T>
void CudaGptStage<T>::LossOnly(CudaGptMicroBatch<T>* micro_batch) const {
  Logits(micro_batch);
  CrossEntropy<T>(micro_batch->logits, micro_batch->targets_there, rows(),
                  weights_.config().vocabulary, classes(), micro_batch->losses,
                  micro_batch->mean_loss, device_.stream());
}

template <typename T>
double CudaGptStage<T>::ReadLoss(
    const CudaGptMicroBatch<T>& micro_batch) const {
  double loss = 0;
  device_.CopyOut(&loss, micro_batch.mean_loss, sizeof(loss));
  return loss;
}

template <typename T>
void CudaGptStage<T>::CopyLoss(const CudaGptMicroBatch<T>& micro_batch,
                               double* to) const {
  device_.Copy(to, micro_batch.mean_loss, sizeof(*to));
}

template <typename T>
void CudaGptStage<T>::HeadBackward(CudaGptMicroBatch<T>* micro_batch,
                                   T* gradient,
                                   const CudaGradientReady& ready) const {
  const Matrix logits = Matrix::Dense(micro_batch->logits, rows(), classes());
  const CudaGptWeight<T> table = weights_.Find(kTokenTable);
  device_.Multiply({.a = logits,
                    .b = Matrix::Dense(table.value, classes(), width()),
                    .result = Matrix::Dense(inner_, rows(), width())});
  const CudaGptPair<T> norm = weights_.FinalNorm();
  device_.Zero(gradient, stream_count() * static_cast<int64_t>(sizeof(T)));
  block_.NormBackward(norm, micro_batch->stream.back(), micro_batch->final_norm,
                      inner_, gradient);
  device_.Multiply(
      {.a_form = MatrixForm::kTransposed,
       .a = logits,
       .b = Matrix::Dense(micro_batch->final_norm.output, rows(), width()),
       .result = Matrix::Dense(table.gradient, classes(), width()),
       .addend = table.gradient});
  // A timeline shows the final norm and the head as one part of the model,
  // which ends when the norm's gradients are reported. So report these
  // gradients only after the head's last matrix product.
  for (const int index : {norm.bias.index, norm.weight.index}) {
    if (index >= 0) ready(index);
  }
  if (!has_embeddings()) ready(table.index);
}

template <typename T>
void CudaGptStage<T>::EmbeddingsBackward(
    const CudaGptMicroBatch<T>& micro_batch, const T* gradient,
    const CudaGradientReady& ready) const {
  const TokenRows found = RowsOfTokens(micro_batch.tokens);
  CopyIn(device_, found.tokens, micro_batch.tokens_found);
  CopyIn(device_, found.begins, micro_batch.begins);
  CopyIn(device_, found.rows, micro_batch.rows);
  const CudaGptWeight<T> table = weights_.Find(kTokenTable);
  const CudaGptWeight<T> positions = weights_.Find(kPositionTable);
  EmbeddingBackward({.batch = batch_, .time = time_, .width = width()},
                    {.count = static_cast<int64_t>(found.tokens.size()),
                     .tokens = micro_batch.tokens_found,
                     .begins = micro_batch.begins,
                     .rows = micro_batch.rows},
                    gradient, table.gradient, positions.gradient,
                    device_.stream());
  ready(positions.index);
  ready(table.index);
}

template <typename T>
void CudaGptStage<T>::Backward(CudaGptMicroBatch<T>* micro_batch, T* gradient,
                               const CudaGradientReady& ready) const {
  if (has_head()) HeadBackward(micro_batch, gradient, ready);
  for (int64_t i = layer_count(); i-- > 0;) {
    const auto weights = weights_.Block(weights_.layers().first + i);
    const T* const input = micro_batch->stream[static_cast<size_t>(i)];
    const CudaBlockActivations<T>& kept = Kept(*micro_batch, i);
    if (checkpointing_ == Checkpointing::kBlocks) {
      // The activations are recomputed. The block's output is not needed, so it
      // is written to the working memory inner_.
      block_.Forward(weights, input, kept, inner_);
    }
    block_.Backward(weights, input, kept, gradient, ready);
  }
  if (has_embeddings()) EmbeddingsBackward(*micro_batch, gradient, ready);
}

template class CudaGptStage<float>;
template class CudaGptStage<Bfloat16>;

}  // namespace muster::models::cuda
