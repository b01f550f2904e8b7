#include "workload/nodes/node_assembler.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <sstream>
#include <utility>

#include "astra/core/error.h"
#include "workload/graph/messages.h"
#include "workload/graph/process_groups.h"
#include "workload/nodes/split_sizes.h"

namespace astra {
namespace {

constexpr std::array<std::string_view, 25> kNames = {"is_cpu_op",
                                                     "num_ops",
                                                     "tensor_size",
                                                     "comm_type",
                                                     "comm_size",
                                                     "comm_priority",
                                                     "comm_src",
                                                     "comm_dst",
                                                     "comm_tag",
                                                     "pg_name",
                                                     "involved_dim",
                                                     "in_split_size",
                                                     "out_split_size",
                                                     "duration_micros",
                                                     "duration_ps",
                                                     "stream",
                                                     "tid",
                                                     "correlation",
                                                     "start_time_micros",
                                                     "ts",
                                                     "event",
                                                     "event_id",
                                                     "wait_on_stream",
                                                     "wait_on_cuda_event_id",
                                                     "wait_on_cuda_event_record_corr_id"};
constexpr std::array<OpKind, 8> kKinds = {OpKind::Invalid,
                                          OpKind::Metadata,
                                          OpKind::MemoryLoad,
                                          OpKind::MemoryStore,
                                          OpKind::Compute,
                                          OpKind::Send,
                                          OpKind::Recv,
                                          OpKind::Collective};
constexpr std::uint64_t kPsPerMicro = 1'000'000;
constexpr std::uint64_t kMostDuration = std::uint64_t{1} << 63U;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 63U;
constexpr double kTwoTo64 = 18446744073709551616.0;

std::string text_of(double value) {
    std::ostringstream out;
    out.precision(17);
    out << value;
    return out.str();
}

struct NamedCall {
    std::string_view name;
    Synchronisation means;
};

// Calls that synchronise, as CUDA and HIP name them, and as Kineto does on the side of the GPU.
constexpr std::array<NamedCall, 21> kCalls = {{
    {"cudaEventRecord", Synchronisation::RecordEvent},
    {"cudaEventRecordWithFlags", Synchronisation::RecordEvent},
    {"cuEventRecord", Synchronisation::RecordEvent},
    {"hipEventRecord", Synchronisation::RecordEvent},
    {"cudaStreamWaitEvent", Synchronisation::StreamWaits},
    {"cuStreamWaitEvent", Synchronisation::StreamWaits},
    {"hipStreamWaitEvent", Synchronisation::StreamWaits},
    {"Stream Wait Event", Synchronisation::StreamWaits},
    {"cudaEventSynchronize", Synchronisation::HostWaitsForEvent},
    {"cuEventSynchronize", Synchronisation::HostWaitsForEvent},
    {"hipEventSynchronize", Synchronisation::HostWaitsForEvent},
    {"Event Sync", Synchronisation::HostWaitsForEvent},
    {"cudaStreamSynchronize", Synchronisation::HostWaitsForStream},
    {"cuStreamSynchronize", Synchronisation::HostWaitsForStream},
    {"hipStreamSynchronize", Synchronisation::HostWaitsForStream},
    {"Stream Sync", Synchronisation::HostWaitsForStream},
    {"cudaDeviceSynchronize", Synchronisation::HostWaitsForDevice},
    {"cuCtxSynchronize", Synchronisation::HostWaitsForDevice},
    {"hipDeviceSynchronize", Synchronisation::HostWaitsForDevice},
    {"Context Sync", Synchronisation::HostWaitsForDevice},
    {"Device Sync", Synchronisation::HostWaitsForDevice},
}};

Synchronisation synchronisation_of(std::string_view name) {
    constexpr std::string_view first_letters = "chSECD";
    if (name.size() < 8 || first_letters.find(name.front()) == std::string_view::npos) {
        return Synchronisation::None;
    }
    const auto found = std::find_if(
        kCalls.begin(), kCalls.end(), [&](const NamedCall& call) { return call.name == name; });
    return found == kCalls.end() ? Synchronisation::None : found->means;
}

bool is_minus_one(const AttributeValue& value) {
    return value.type == AttributeType::Integer && value.negative && value.magnitude == 1;
}

}  // namespace

NodeAssembler::NodeAssembler(const TraceContext& context, GraphBuilder& builder, Warnings& warnings)
    : context_(context), builder_(builder), warnings_(warnings) {
    static_assert(kNames.size() == AttributeCount);
}

void NodeAssembler::begin() {
    node_.clear();
    input_values_.clear();
    type_ = 0;
    given_ = 0;
    contradicted_ = 0;
}

void NodeAssembler::set_type(std::uint64_t node_type) {
    type_ = node_type;
}

NodeAssembler::Attribute NodeAssembler::attribute_of(std::string_view name) {
    if (name == "runtime") {
        return DurationMicros;
    }
    const auto found = std::find(kNames.begin(), kNames.end(), name);
    return static_cast<Attribute>(found - kNames.begin());
}

std::span<const std::string_view> NodeAssembler::names() {
    return kNames;
}

void NodeAssembler::set(Attribute attribute, AttributeValue value) {
    if (attribute == AttributeCount || value.type == AttributeType::None) {
        return;
    }
    const std::uint32_t bit = 1U << attribute;
    if ((given_ & bit) != 0 && !agree(values_[attribute], value)) {
        contradicted_ |= bit;
    }
    values_[attribute] = std::move(value);
    given_ |= bit;
}

void NodeAssembler::fail(const std::string& what) const {
    throw TraceError(node_place(context_.file, context_.rank, node_.id, node_.name) + ": " + what);
}

std::optional<std::uint64_t> NodeAssembler::integer(Attribute attribute) const {
    if ((given_ & (1U << attribute)) == 0) {
        return std::nullopt;
    }
    const AttributeValue& value = values_[attribute];
    const std::string name(kNames[attribute]);
    const auto refuse = [&](const std::string& text) {
        fail("attribute " + name + ": " + text + " is not a whole number of 0 or more");
    };
    switch (value.type) {
        case AttributeType::Integer:
            if (value.negative) {
                refuse("-" + std::to_string(value.magnitude));
            }
            return value.magnitude;
        case AttributeType::Boolean:
            return value.magnitude;
        case AttributeType::Number:
            if (!(value.number >= 0) || value.number >= kTwoTo64 ||
                std::floor(value.number) != value.number) {
                refuse(text_of(value.number));
            }
            return static_cast<std::uint64_t>(value.number);
        default:
            break;
    }
    fail("attribute " + name + " has the type " + value.type_name +
         (value.type == AttributeType::Text ? " ('" + printable(value.text) + "')" : "") +
         "; an integer is expected");
}

std::optional<std::uint32_t> NodeAssembler::small_integer(Attribute attribute) const {
    const bool present = (given_ & (1U << attribute)) != 0;
    if (present && attribute != CommDst && is_minus_one(values_[attribute])) {
        fail("attribute " + std::string(kNames[attribute]) + " is -1: match-any is not supported");
    }
    const std::optional<std::uint64_t> value = integer(attribute);
    if (value && *value > 0xffffffffU) {
        fail("attribute " + std::string(kNames[attribute]) + ": " + std::to_string(*value) +
             " is too large; at most 4294967295");
    }
    return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
}

std::uint64_t NodeAssembler::duration_ps() const {
    const std::uint64_t rounded = rounded_duration_ps();
    const std::optional<std::uint64_t> exact = integer(DurationPs);
    if (!exact) {
        return rounded;
    }
    if (*exact > kMostDuration ||
        (*exact > rounded ? *exact - rounded : rounded - *exact) > kPsPerMicro) {
        fail("attribute duration_ps: " + std::to_string(*exact) +
             " is not within a microsecond of the duration and below 2^63");
    }
    return *exact;
}

std::uint64_t NodeAssembler::rounded_duration_ps() const {
    if ((given_ & (1U << DurationMicros)) == 0) {
        return 0;
    }
    const AttributeValue& value = values_[DurationMicros];
    if (value.type == AttributeType::Number) {
        const double ps = value.number * static_cast<double>(kPsPerMicro);
        if (!(ps >= 0) || ps > static_cast<double>(kMostDuration)) {
            fail("duration of " + text_of(value.number) + " us is not within 0 and 2^63 ps");
        }
        return static_cast<std::uint64_t>(std::round(ps));
    }
    const std::uint64_t micros = integer(DurationMicros).value_or(0);
    if (micros > kMostDuration / kPsPerMicro) {
        fail("duration of " + std::to_string(micros) + " us is not within 0 and 2^63 ps");
    }
    return micros * kPsPerMicro;
}

std::optional<std::uint64_t> NodeAssembler::communication_bytes() const {
    const std::optional<std::uint64_t> elements = integer(CommSize);
    if (!elements) {
        return std::nullopt;
    }
    const unsigned __int128 bytes =
        static_cast<unsigned __int128>(*elements) * context_.element_bytes;
    if (bytes > kMostBytes) {
        fail("attribute comm_size: " + std::to_string(*elements) + " elements of " +
             std::to_string(context_.element_bytes) + " bytes are more than 2^63 bytes");
    }
    return static_cast<std::uint64_t>(bytes);
}

void NodeAssembler::fill_collective() {
    if (const std::optional<std::uint64_t> kind = integer(CommType)) {
        if (*kind >= kCollectiveKinds) {
            fail("attribute comm_type: " + std::to_string(*kind) +
                 " is no collective; 0 to 9 are (0 all_reduce ... 9 barrier)");
        }
        node_.collective = static_cast<CollectiveKind>(*kind);
    }
    node_.comm_bytes = communication_bytes();
    node_.priority = integer(CommPriority).value_or(0);
    if (node_.collective && is_rooted(*node_.collective)) {
        node_.source = small_integer(CommSrc);
    }
    if (node_.collective == CollectiveKind::AllToAll) {
        fill_pairs();
    }
    if ((given_ & (1U << PgName)) != 0) {
        const AttributeValue& name = values_[PgName];
        if (name.type == AttributeType::Text) {
            node_.group = name.text;
            repair_utf8(node_.group);
        } else if (name.type == AttributeType::Integer) {
            node_.group = (name.negative ? "-" : "") + std::to_string(name.magnitude);
        } else {
            fail(std::string("attribute pg_name has the type ") + name.type_name +
                 "; a string is expected");
        }
    }
    if ((given_ & (1U << InvolvedDim)) != 0) {
        const AttributeValue& dimensions = values_[InvolvedDim];
        if (dimensions.type != AttributeType::Flags) {
            fail(std::string("attribute involved_dim has the type ") + dimensions.type_name +
                 "; a list of booleans is expected");
        }
        if (!dimensions.flags.empty()) {
            node_.involved_dimensions = dimensions.flags;
        }
    }
}

void NodeAssembler::fill_pairs() {
    SplitSizes sizes;
    for (const Attribute attribute : {InSplitSize, OutSplitSize}) {
        if ((given_ & (1U << attribute)) != 0) {
            auto& counts = attribute == InSplitSize ? sizes.sends : sizes.receives;
            const std::string fault = read_counts(values_[attribute], counts);
            if (!fault.empty()) {
                fail("attribute " + std::string(kNames[attribute]) + ": " + fault);
            }
        }
    }
    if (sizes.sends.empty() && sizes.receives.empty()) {
        return;
    }
    const std::string fault = to_bytes(sizes, node_.comm_bytes, context_.element_bytes);
    if (!fault.empty()) {
        fail(fault);
    }
    node_.pair_sends = std::move(sizes.sends);
    node_.pair_receives = std::move(sizes.receives);
}

void NodeAssembler::fill_point() {
    node_.source = small_integer(CommSrc);
    node_.destination = small_integer(CommDst);
    node_.tag = small_integer(CommTag);
    node_.comm_bytes = communication_bytes();
    const auto& own = node_.kind == OpKind::Send ? node_.source : node_.destination;
    if (own) {
        stated_rank_ = *own;
    }
}

// Of an attribute that nothing but the order of streams depends on, whatever its type.
std::uint64_t NodeAssembler::number_or_none(Attribute attribute, std::uint64_t unit) const {
    if ((given_ & (1U << attribute)) == 0) {
        return StreamNote::kNone;
    }
    const AttributeValue& value = values_[attribute];
    switch (value.type) {
        case AttributeType::Integer:
            return value.negative || value.magnitude > kMostDuration / unit
                       ? StreamNote::kNone
                       : value.magnitude * unit;
        case AttributeType::Number: {
            const double number = value.number * static_cast<double>(unit);
            return number >= 0 && number < static_cast<double>(kMostDuration)
                       ? static_cast<std::uint64_t>(number)
                       : StreamNote::kNone;
        }
        case AttributeType::Text: {
            // "7", or "stream 7" as viewers show it.
            std::uint64_t number = 0;
            const std::size_t word = value.text.find_last_of(' ');
            const std::string_view digits =
                std::string_view(value.text).substr(word == std::string::npos ? 0 : word + 1);
            const auto parsed =
                std::from_chars(digits.data(), digits.data() + digits.size(), number);
            const bool whole = parsed.ec == std::errc() &&
                               parsed.ptr == digits.data() + digits.size() &&
                               number <= kMostDuration / unit;
            return whole ? number * unit : StreamNote::kNone;
        }
        default:
            return StreamNote::kNone;
    }
}

void NodeAssembler::fill_stream() {
    constexpr std::uint32_t of_streams = ~0U << StreamNumber;  // their attributes come last
    constexpr std::uint64_t ns_per_micro = 1000;
    StreamNote& note = node_.stream_note;
    note.synchronisation = synchronisation_of(node_.name);
    if ((given_ & of_streams) == 0) {
        return;
    }
    note.stream = number_or_none(StreamNumber);
    note.thread = number_or_none(Tid);
    note.correlation = number_or_none(Correlation);
    note.start = number_or_none(StartTimeMicros, ns_per_micro);
    if (note.start == StreamNote::kNone) {
        note.start = number_or_none(Ts, ns_per_micro);
    }
    if (note.synchronisation != Synchronisation::None) {
        note.record = number_or_none(WaitOnRecord);
        note.waits_on = number_or_none(WaitOnStream);
        for (const Attribute attribute : {Event, EventId, WaitOnEvent}) {
            if (note.event == StreamNote::kNone) {
                note.event = number_or_none(attribute);
            }
        }
    }
}

void NodeAssembler::define_groups() {
    std::optional<std::vector<GroupDefinition>> groups =
        parse_process_groups(input_values_, context_.ranks);
    if (!groups) {
        warnings_.add(node_place(context_.file, context_.rank, node_.id, node_.name) +
                      ": its process groups cannot be read; they are not defined");
        return;
    }
    for (GroupDefinition& group : *groups) {
        groups_.push_back(std::move(group));
    }
}

void NodeAssembler::refuse_contradictions() const {
    if (contradicted_ == 0) {
        return;
    }
    const auto attribute = static_cast<Attribute>(std::countr_zero(contradicted_));
    fail("attribute " + std::string(kNames[attribute]) +
         (attribute == DurationMicros ? " or runtime" : "") +
         " is given twice with different values");
}

void NodeAssembler::finish() {
    repair_utf8(node_.name);
    refuse_contradictions();
    if (type_ >= kKinds.size()) {
        fail("node type " + std::to_string(type_) + " is unknown; 0 to 7 are known");
    }
    node_.kind = kKinds[type_];
    node_.duration_ps = duration_ps();
    switch (node_.kind) {
        case OpKind::Compute:
            node_.operations = integer(NumOps);
            node_.tensor_bytes = integer(TensorSize);
            break;
        case OpKind::MemoryLoad:
        case OpKind::MemoryStore:
            node_.tensor_bytes = integer(TensorSize);
            break;
        case OpKind::Send:
        case OpKind::Recv:
            fill_point();
            break;
        case OpKind::Collective:
            fill_collective();
            break;
        case OpKind::Metadata:
            if (node_.name.find("process_group:init") != std::string::npos) {
                define_groups();
            }
            break;
        case OpKind::Invalid:
            break;
    }
    node_.on_cpu = integer(IsCpuOp).value_or(0) != 0;
    fill_stream();
    builder_.add(node_);
    ++nodes_;
}

}  // namespace astra
