#include "system/tuning/tuner.h"

#include <algorithm>

#include <fmt/format.h>

#include "system/tuning/algorithm_choice.h"

namespace astra {

namespace {

constexpr std::size_t kMostKeptSends = std::size_t{1} << 14U;
constexpr std::size_t kMostKeptPrograms = 4096;
// Longer programs are no candidates: a run in a sandbox would take too long.
constexpr std::uint64_t kMostTriedSends = std::uint64_t{1} << 15U;

ProgramShape with_parameter(ProgramShape shape, const AlgorithmChoice& choice) {
    shape.parameter = choice.parameter;
    shape.levels = choice.levels;
    return shape;
}

// As far as that is known without making it: a program apart for each member has at least one send
// a block and member.
bool is_too_long(const CollectiveAlgorithm& algorithm, const ProgramShape& shape) {
    return algorithm.relation(shape) == Relation::Absolute &&
           std::uint64_t{algorithm.blocks(shape)} * shape.members > kMostTriedSends;
}

}  // namespace

std::string Tuner::Pick::name() const {
    return protocol == nullptr ? choice.name : choice.name + "/" + protocol->name;
}

Tuner::Tuner(Routing& routing,
             const BackendInfo& backend,
             const ConfigView& network,
             const TuningConfig& config,
             const EndpointCosts& endpoint)
    : config_(config), predictor_(routing, backend, network, endpoint) {}

std::vector<AlgorithmChoice> Tuner::candidates(const ProgramShape& shape) const {
    const auto& named = config_.candidates[static_cast<std::size_t>(shape.kind)];
    if (!named.empty()) {
        return named;
    }
    std::vector<AlgorithmChoice> all;
    for (const CollectiveAlgorithm* algorithm : collective_algorithms()) {
        const std::vector<std::string> names = algorithm->trials == nullptr
                                                   ? std::vector{std::string(algorithm->name)}
                                                   : algorithm->trials(shape);
        for (const std::string& name : names) {
            all.push_back(parse_algorithm(name));
        }
    }
    return all;
}

std::string Tuner::refusal(const AlgorithmChoice& choice, const Phase& phase) {
    std::string reason = choice.algorithm->refusal(with_parameter(phase.shape, choice));
    if (!reason.empty() || choice.algorithm->in_switch == nullptr) {
        return reason;
    }
    if (!config_.in_switch_reduction) {
        return "the switches have to reduce: it needs system.in_switch_reduction";
    }
    return program_of(choice, phase).one_switch() ? "" : "its ranks do not hang on one switch";
}

const PredictedProgram& Tuner::program_of(const AlgorithmChoice& choice, const Phase& phase) {
    const ProgramShape shape = with_parameter(phase.shape, choice);
    std::vector<std::uint32_t> ranks(phase.ranks.begin(), phase.ranks.end());
    const ProgramKey key{{choice.algorithm->name, shape}, ranks};
    const auto found = programs_.find(key);
    if (found != programs_.end()) {
        return *found->second;
    }
    auto program = std::make_unique<const PredictedProgram>(
        predictor_.survey(make_program(*choice.algorithm, shape), std::move(ranks)));
    const bool keep =
        program->program().stored_sends() <= kMostKeptSends && programs_.size() < kMostKeptPrograms;
    auto& kept = keep ? programs_[key] : large_;
    kept = std::move(program);
    return *kept;
}

void Tuner::try_all_protocols(const AlgorithmChoice& choice,
                              const std::string& protocol,
                              const Phase& phase,
                              Pick& best) {
    const ProgramShape shape = with_parameter(phase.shape, choice);
    std::vector<const Protocol*> protocols = protocols_of(*choice.algorithm, config_.protocols);
    if (!protocol.empty()) {
        std::erase_if(protocols, [&](const Protocol* p) { return p->name != protocol; });
    } else if (protocols.empty()) {
        protocols.push_back(nullptr);
    }
    const PredictedProgram& program = program_of(choice, phase);
    for (const Protocol* candidate : protocols) {
        const MessageCosts costs = message_costs(*choice.algorithm, shape, candidate);
        const Duration time = predictor_.predict(program, phase.size, costs);
        if (best.choice.algorithm == nullptr || time < best.predicted) {
            best = {choice, candidate, time};
        }
    }
}

Tuner::Pick Tuner::pick(const AlgorithmChoice& choice, const Phase& phase, std::string& refusal) {
    AlgorithmChoice wanted = choice;
    std::string protocol;
    std::string where;
    if (choice.table != nullptr) {
        const SizeTable::Entry& entry = choice.table->entry_for(phase.buffer);
        wanted = entry.choice;
        protocol = entry.protocol;
        where = fmt::format("; {} says so for {} B", entry.where, phase.buffer.count);
    }
    Pick best;
    if (!wanted.automatic) {
        refusal = this->refusal(wanted, phase);
        if (refusal.empty()) {
            try_all_protocols(wanted, protocol, phase, best);
        }
    } else {
        for (const AlgorithmChoice& candidate : candidates(phase.shape)) {
            const ProgramShape shape = with_parameter(phase.shape, candidate);
            if (this->refusal(candidate, phase).empty() &&
                !is_too_long(*candidate.algorithm, shape)) {
                try_all_protocols(candidate, protocol, phase, best);
            }
        }
    }
    if (best.choice.algorithm == nullptr && refusal.empty()) {
        refusal = protocol.empty()
                      ? "none of the algorithms that auto may choose can do it"
                      : fmt::format("protocol '{}' does not serve the algorithm", protocol);
    }
    if (!refusal.empty() && !where.empty()) {
        refusal = fmt::format("'{}': {}{}", wanted.name, refusal, where);
    }
    return best;
}

}  // namespace astra
