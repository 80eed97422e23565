#include "models/gpt/gpt_stage.h"

#include <cstddef>
#include <utility>

#include "models/kernels/layers.h"
#include "models/kernels/matrix_product.h"

namespace muster::models {
namespace {

constexpr char kTokenTable[] = "transformer.wte.weight";
constexpr char kPositionTable[] = "transformer.wpe.weight";

MatrixView<const float> Matrix(const float* data, int64_t rows,
                               int64_t columns) {
  return MatrixView<const float>::Dense(data, rows, columns);
}

}  // namespace

GptStage::GptStage(GptWeights& weights, int64_t batch, int64_t time,
                   Checkpointing checkpointing)
    : weights_(weights),
      batch_(batch),
      time_(time),
      checkpointing_(checkpointing),
      block_(weights.config(), batch, time) {}

int64_t GptStage::stream_count() const { return rows() * width(); }

void GptStage::TakeMemory(GptMicroBatch* micro_batch) const {
  if (!micro_batch->blocks.empty() || spare_.empty()) return;
  GptMicroBatch taken = std::move(spare_.back());
  spare_.pop_back();
  taken.tokens = std::move(micro_batch->tokens);
  taken.targets = std::move(micro_batch->targets);
  *micro_batch = std::move(taken);
}

void GptStage::GiveBackMemory(GptMicroBatch* micro_batch) const {
  GptMicroBatch done;
  done.tokens = std::move(micro_batch->tokens);
  done.targets = std::move(micro_batch->targets);
  std::swap(done, *micro_batch);
  spare_.push_back(std::move(done));
}

void GptStage::Forward(GptMicroBatch* micro_batch,
                       std::vector<float>* stream) const {
  TakeMemory(micro_batch);
  stream->resize(static_cast<size_t>(stream_count()));
  if (has_embeddings()) {
    EmbeddingForward(micro_batch->tokens.data(),
                     weights_.Find(kTokenTable).value,
                     weights_.Find(kPositionTable).value, batch_, time_,
                     width(), stream->data());
  }
  const GptLayers layers = weights_.layers();
  micro_batch->blocks.resize(static_cast<size_t>(layers.last - layers.first));
  for (int64_t layer = layers.first; layer < layers.last; ++layer) {
    GptBlockActivations& kept =
        micro_batch->blocks[static_cast<size_t>(layer - layers.first)];
    block_.Forward(weights_.Block(layer), stream, &kept);
    if (checkpointing_ == Checkpointing::kBlocks) {
      GptBlockActivations only_input;
      only_input.input = std::move(kept.input);
      kept = std::move(only_input);
    }
  }
}

void GptStage::Logits(GptMicroBatch* micro_batch,
                      const std::vector<float>& stream) const {
  const GptPair norm = weights_.FinalNorm();
  NormActivations& kept = micro_batch->final_norm;
  kept.output.resize(stream.size());
  kept.mean.resize(static_cast<size_t>(rows()));
  kept.scale.resize(static_cast<size_t>(rows()));
  LayerNormForward(stream.data(), norm.weight.value, norm.bias.value, rows(),
                   width(), kept.output.data(), kept.mean.data(),
                   kept.scale.data());
  const int64_t classes = weights_.config().vocabulary;
  micro_batch->logits.resize(static_cast<size_t>(rows() * classes));
  MatrixProduct(
      Form::kPlain, Matrix(kept.output.data(), rows(), width()),
      Form::kTransposed,
      Matrix(weights_.Find(kTokenTable).value, classes, width()), 1, 0,
      MatrixView<float>::Dense(micro_batch->logits.data(), rows(), classes));
}

double GptStage::LossOnly(GptMicroBatch* micro_batch,
                          const std::vector<float>& stream) const {
  Logits(micro_batch, stream);
  return CrossEntropy(micro_batch->logits.data(), micro_batch->targets.data(),
                      rows(), weights_.config().vocabulary);
}

double GptStage::Loss(GptMicroBatch* micro_batch,
                      const std::vector<float>& stream, float factor) const {
  micro_batch->final_input = stream;
  Logits(micro_batch, stream);
  return CrossEntropyWithGradient(micro_batch->logits.data(),
                                  micro_batch->targets.data(), rows(),
                                  weights_.config().vocabulary, factor);
}

void GptStage::HeadBackwardInput(GptMicroBatch* micro_batch,
                                 std::vector<float>* gradient) const {
  const int64_t classes = weights_.config().vocabulary;
  inner_.resize(static_cast<size_t>(stream_count()));
  MatrixProduct(
      Form::kPlain, Matrix(micro_batch->logits.data(), rows(), classes),
      Form::kPlain, Matrix(weights_.Find(kTokenTable).value, classes, width()),
      1, 0, MatrixView<float>::Dense(inner_.data(), rows(), width()));
  const GptPair norm = weights_.FinalNorm();
  gradient->assign(static_cast<size_t>(stream_count()), 0.0f);
  LayerNormBackward(inner_.data(), micro_batch->final_input.data(),
                    norm.weight.value, micro_batch->final_norm.mean.data(),
                    micro_batch->final_norm.scale.data(), rows(), width(),
                    gradient->data(), norm.weight.gradient, norm.bias.gradient);
}

void GptStage::HeadBackwardWeight(GptMicroBatch* micro_batch,
                                  const GradientReady& ready) const {
  const int64_t classes = weights_.config().vocabulary;
  const GptWeight table = weights_.Find(kTokenTable);
  MatrixProduct(
      Form::kTransposed, Matrix(micro_batch->logits.data(), rows(), classes),
      Form::kPlain,
      Matrix(micro_batch->final_norm.output.data(), rows(), width()), 1, 1,
      MatrixView<float>::Dense(table.gradient, classes, width()));
  // A timeline shows the final norm and the head as one part of the model,
  // which ends when the norm's gradients are reported. So report these
  // gradients only after the head's last matrix product.
  const GptPair norm = weights_.FinalNorm();
  for (const int index : {norm.bias.index, norm.weight.index}) {
    if (index >= 0) ready(index);
  }
  if (!has_embeddings()) ready(table.index);
}

void GptStage::BlockBackwardInput(GptMicroBatch* micro_batch, int64_t layer,
                                  std::vector<float>* gradient) const {
  GptBlockActivations& kept =
      micro_batch->blocks[static_cast<size_t>(layer - weights_.layers().first)];
  const GptBlockWeights weights = weights_.Block(layer);
  if (checkpointing_ == Checkpointing::kBlocks) {
    std::vector<float> again(kept.input.begin(), kept.input.end());
    block_.Forward(weights, &again, &kept);
  }
  block_.BackwardInput(weights, &kept, gradient);
}

void GptStage::EmbeddingsBackward(const GptMicroBatch& micro_batch,
                                  const std::vector<float>& gradient,
                                  const GradientReady& ready) const {
  const GptWeight table = weights_.Find(kTokenTable);
  const GptWeight positions = weights_.Find(kPositionTable);
  EmbeddingBackward(micro_batch.tokens.data(), gradient.data(), batch_, time_,
                    width(), table.gradient, positions.gradient);
  ready(positions.index);
  ready(table.index);
}

void GptStage::BackwardInput(GptMicroBatch* micro_batch,
                             std::vector<float>* gradient) const {
  if (has_head()) HeadBackwardInput(micro_batch, gradient);
  const GptLayers layers = weights_.layers();
  for (int64_t layer = layers.last; layer-- > layers.first;) {
    BlockBackwardInput(micro_batch, layer, gradient);
  }
  if (has_embeddings()) micro_batch->input_gradient = *gradient;
}

void GptStage::BackwardWeight(GptMicroBatch* micro_batch,
                              const GradientReady& ready) const {
  if (has_head()) HeadBackwardWeight(micro_batch, ready);
  const GptLayers layers = weights_.layers();
  for (int64_t layer = layers.last; layer-- > layers.first;) {
    block_.BackwardWeight(
        weights_.Block(layer),
        micro_batch->blocks[static_cast<size_t>(layer - layers.first)], ready);
  }
  if (has_embeddings()) {
    EmbeddingsBackward(*micro_batch, micro_batch->input_gradient, ready);
  }
  GiveBackMemory(micro_batch);
}

void GptStage::Backward(GptMicroBatch* micro_batch,
                        std::vector<float>* gradient,
                        const GradientReady& ready) const {
  if (has_head()) {
    HeadBackwardInput(micro_batch, gradient);
    HeadBackwardWeight(micro_batch, ready);
  }
  const GptLayers layers = weights_.layers();
  for (int64_t layer = layers.last; layer-- > layers.first;) {
    GptBlockActivations& kept =
        micro_batch->blocks[static_cast<size_t>(layer - layers.first)];
    std::swap(kept.gradients, gradients_);
    BlockBackwardInput(micro_batch, layer, gradient);
    block_.BackwardWeight(weights_.Block(layer), kept, ready);
    std::swap(kept.gradients, gradients_);
  }
  if (has_embeddings()) EmbeddingsBackward(*micro_batch, *gradient, ready);
  GiveBackMemory(micro_batch);
}

}  // namespace muster::models
