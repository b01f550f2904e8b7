#include "workload/custom_collective/msccl_xml.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <utility>

#include <expat.h>
#include <fmt/format.h>

#include "astra/core/error.h"
#include "astra/core/text/nearest.h"
#include "workload/custom_collective/initial_copies.h"
#include "workload/graph/messages.h"

namespace astra {

namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10U;
constexpr std::size_t kLongestTag = std::size_t{1} << 20U;
constexpr std::int64_t kMostGpus = 1 << 16;
constexpr std::int64_t kMostChunks = 1 << 20;
constexpr std::int64_t kMostBlocks = ThreadBlocks::kMostOfMember;
constexpr std::size_t kMostSteps = std::size_t{1} << 22U;
constexpr std::int64_t kMostNumber = 0x7fffffff;
constexpr std::array<std::string_view, 4> kElements = {"algo", "gpu", "tb", "step"};
constexpr std::string_view kCopy = "copy";

// A thread block without steps says nothing, nor do peers that no step uses.
void normalise(ThreadBlockGpu& gpu) {
    ThreadBlock& block = gpu.blocks.back();
    const auto any = [&](bool (*property)(StepType)) {
        return std::any_of(block.steps.begin(),
                           block.steps.end(),
                           [&](const ThreadBlockStep& step) { return property(step.type); });
    };
    if (block.steps.empty()) {
        gpu.blocks.pop_back();
        return;
    }
    if (!any(&sends)) {
        block.send.reset();
    }
    if (!any(&receives)) {
        block.receive.reset();
    }
    if (!block.send && !block.receive) {
        block.channel = 0;
    }
}

// Errors cross the parser, which is C, as a text: see stop().
class Reader {
  public:
    explicit Reader(ByteSource& source) : source_(source), parser_(XML_ParserCreate(nullptr)) {
        XML_SetUserData(parser_.get(), this);
        XML_SetElementHandler(parser_.get(), &Reader::started, &Reader::ended);
        XML_SetStartDoctypeDeclHandler(parser_.get(), &Reader::doctype);
        algorithm_.file = source.file();
    }

    ThreadBlockAlgorithm read() {
        bool last = false;
        while (!last) {
            last = !source_.ensure(1);
            const std::string_view piece = source_.window().substr(0, kPiece);
            const auto status = XML_Parse(
                parser_.get(), piece.data(), static_cast<int>(piece.size()), last ? 1 : 0);
            since_tag_ += piece.size();
            if (error_.empty() && since_tag_ > kLongestTag) {
                stop("no tag for a MiB: not an MSCCL file");
            }
            if (error_.empty() && status == XML_STATUS_ERROR) {
                stop(std::string("not well-formed XML: ") +
                     XML_ErrorString(XML_GetErrorCode(parser_.get())));
            }
            if (!error_.empty()) {
                throw TraceError(error_);
            }
            source_.consume(piece.size());
        }
        finish();
        return std::move(algorithm_);
    }

  private:
    struct Free {
        void operator()(XML_ParserStruct* parser) const { XML_ParserFree(parser); }
    };

    static void started(void* self, const XML_Char* name, const XML_Char** attributes) {
        static_cast<Reader*>(self)->start(name, attributes);
    }
    static void ended(void* self, const XML_Char* /*name*/) { static_cast<Reader*>(self)->end(); }
    static void doctype(void* self,
                        const XML_Char* /*name*/,
                        const XML_Char* /*system*/,
                        const XML_Char* /*public*/,
                        int /*internal*/) {
        static_cast<Reader*>(self)->stop("a document type is not allowed here");
    }

    std::uint64_t line() const { return XML_GetCurrentLineNumber(parser_.get()); }

    // The first error counts.
    void stop(const std::string& what) {
        if (error_.empty()) {
            error_ = fmt::format("{}:{}: {}", source_.file(), line(), what);
        }
        XML_StopParser(parser_.get(), XML_FALSE);
    }

    void start(const XML_Char* name, const XML_Char** attributes) {
        since_tag_ = 0;
        if (!error_.empty()) {
            return;
        }
        const std::string_view element(name);
        if (depth_ == 2 && element == kCopy && !in_copy_) {
            attributes_ = attributes;
            start_copy();
            return;
        }
        if (in_copy_ || depth_ >= kElements.size() || element != kElements[depth_]) {
            stop(fmt::format("element '{}'; {}",
                             printable(element),
                             depth_ < kElements.size()
                                 ? fmt::format("'{}' is expected here", kElements[depth_])
                                 : "nothing is expected within a step"));
            return;
        }
        attributes_ = attributes;
        switch (depth_++) {
            case 0:
                start_algorithm();
                break;
            case 1:
                start_gpu();
                break;
            case 2:
                start_block();
                break;
            default:
                start_step();
                break;
        }
    }

    void end() {
        since_tag_ = 0;
        if (!error_.empty()) {
            return;
        }
        if (in_copy_) {
            in_copy_ = false;
            return;
        }
        switch (depth_--) {
            case 3:
                normalise(algorithm_.gpus[gpu_]);
                break;
            case 2:
                add_copies(algorithm_.gpus[gpu_]);
                break;
            default:
                break;
        }
    }

    // SCCL, TACCL and TE-CCL have a GPU copy chunks of its input to its output before its thread
    // blocks start.
    void start_copy() {
        in_copy_ = true;
        ThreadBlockStep& step = copies_.emplace_back();
        step.type = StepType::Copy;
        step.line = line();
        step.source = 'i';
        step.source_offset = count("i_off", kMostChunks);
        step.destination = 'o';
        step.destination_offset = count("o_off", kMostChunks);
        step.count = static_cast<std::uint32_t>(number("cnt", 1, kMostChunks, 1));
        if (copies_.size() > kMostSteps) {
            stop(fmt::format("more than {} copies", kMostSteps));
        }
    }

    void add_copies(ThreadBlockGpu& gpu) {
        if (!copies_.empty() && gpu.blocks.size() >= static_cast<std::size_t>(kMostBlocks)) {
            stop(fmt::format("more than {} thread blocks, copies among them", kMostBlocks));
            return;
        }
        add_initial_copies(std::exchange(copies_, {}), gpu);
    }

    std::string_view text(std::string_view name, std::string_view fallback) const {
        for (std::size_t i = 0; attributes_[i] != nullptr; i += 2) {
            if (name == attributes_[i]) {
                return attributes_[i + 1];
            }
        }
        return fallback;
    }

    // `least` where something is wrong, which is then said.
    std::int64_t number(std::string_view name,
                        std::int64_t least,
                        std::int64_t most,
                        std::optional<std::int64_t> fallback = std::nullopt) {
        const std::string_view value = text(name, "");
        if (value.empty() && fallback) {
            return *fallback;
        }
        std::int64_t result = 0;
        const auto parsed = std::from_chars(value.data(), value.data() + value.size(), result);
        const bool whole = parsed.ec == std::errc() && parsed.ptr == value.data() + value.size();
        if (!whole || result < least || result > most) {
            stop(value.empty() ? fmt::format("'{}' lacks the attribute {}", here(), name)
                               : fmt::format("{}=\"{}\" is not a number from {} to {}",
                                             name,
                                             printable(value),
                                             least,
                                             most));
            return least;
        }
        return result;
    }
    std::uint32_t count(std::string_view name, std::int64_t most, std::int64_t fallback = 0) {
        return static_cast<std::uint32_t>(number(name, 0, most, fallback));
    }
    std::string_view here() const { return in_copy_ ? kCopy : kElements[depth_ - 1]; }

    void start_algorithm() {
        algorithm_.name = text("name", "");
        algorithm_.protocol = text("proto", "Simple");
        algorithm_.chunks = static_cast<std::uint32_t>(number("nchunksperloop", 1, kMostChunks));
        algorithm_.gpus.resize(static_cast<std::size_t>(number("ngpus", 1, kMostGpus)));
        algorithm_.in_place = number("inplace", 0, 1, 1) == 1;
        const std::string coll(text("coll", ""));
        if (!parse_collective_name(coll, algorithm_.kind)) {
            stop(fmt::format("coll=\"{}\" is no collective{}",
                             printable(coll),
                             suggestion(coll, collective_file_names())));
        }
        algorithm_.root = count("root", static_cast<std::int64_t>(algorithm_.gpus.size()) - 1);
        seen_.resize(algorithm_.gpus.size());
    }

    void start_gpu() {
        gpu_ = static_cast<std::size_t>(
            number("id", 0, static_cast<std::int64_t>(algorithm_.gpus.size()) - 1));
        if (seen_[gpu_]) {
            stop(fmt::format("gpu {} is there twice", gpu_));
        }
        seen_[gpu_] = true;
        ThreadBlockGpu& gpu = algorithm_.gpus[gpu_];
        gpu.input_chunks = count("i_chunks", kMostChunks);
        gpu.output_chunks = count("o_chunks", kMostChunks);
        gpu.scratch_chunks = count("s_chunks", kMostChunks);
    }

    void start_block() {
        ThreadBlockGpu& gpu = algorithm_.gpus[gpu_];
        if (gpu.blocks.size() >= static_cast<std::size_t>(kMostBlocks)) {
            stop(fmt::format("more than {} thread blocks", kMostBlocks));
            return;
        }
        const auto peer = [&](std::string_view name) {
            const std::int64_t value = number(name, -1, kMostNumber, -1);
            return value < 0 ? std::nullopt : std::optional(static_cast<std::uint32_t>(value));
        };
        ThreadBlock& block = gpu.blocks.emplace_back();
        block.id = static_cast<std::uint32_t>(number("id", 0, kMostNumber));
        block.send = peer("send");
        block.receive = peer("recv");
        block.channel = count("chan", kMostNumber);
    }

    char buffer(std::string_view name) {
        const std::string_view value = text(name, "i");
        if (value == "i" || value == "o" || value == "s") {
            return value.front();
        }
        stop(fmt::format("{}=\"{}\" is no buffer; i, o and s are", name, printable(value)));
        return 'i';
    }

    void start_step() {
        ThreadBlock& block = algorithm_.gpus[gpu_].blocks.back();
        if (++steps_ > kMostSteps) {
            stop(fmt::format("more than {} steps", kMostSteps));
            return;
        }
        const std::int64_t stated = number("s", 0, kMostNumber);
        if (error_.empty() && static_cast<std::size_t>(stated) != block.steps.size()) {
            stop(fmt::format("step {} where step {} is expected", stated, block.steps.size()));
        }
        const std::string_view type = text("type", "");
        const auto known = step_type_of(type);
        if (!known) {
            std::vector<std::string> names;
            for (std::size_t i = 0; i < kStepTypes; ++i) {
                names.emplace_back(spelling_of(static_cast<StepType>(i)));
            }
            stop(fmt::format(
                "type=\"{}\" is no step{}", printable(type), suggestion(std::string(type), names)));
            return;
        }
        ThreadBlockStep& step = block.steps.emplace_back();
        step.type = *known;
        step.line = line();
        if (reads_source(step.type)) {
            step.source = buffer("srcbuf");
            step.source_offset = static_cast<std::uint32_t>(number("srcoff", 0, kMostChunks));
        }
        if (writes_destination(step.type)) {
            step.destination = buffer("dstbuf");
            step.destination_offset = static_cast<std::uint32_t>(number("dstoff", 0, kMostChunks));
        }
        if (step.type != StepType::Nop) {
            step.count = static_cast<std::uint32_t>(number("cnt", 1, kMostChunks));
        }
        const std::int64_t other = number("depid", -1, kMostNumber, -1);
        if (other >= 0) {
            step.wait = {static_cast<std::uint32_t>(other),
                         static_cast<std::uint32_t>(number("deps", 0, kMostNumber))};
        }
    }

    void finish() const {
        for (std::size_t gpu = 0; gpu < seen_.size(); ++gpu) {
            if (!seen_[gpu]) {
                throw TraceError(fmt::format(
                    "{}: ngpus is {}, but gpu {} is not there", source_.file(), seen_.size(), gpu));
            }
        }
    }

    ByteSource& source_;
    std::unique_ptr<XML_ParserStruct, Free> parser_;
    ThreadBlockAlgorithm algorithm_;
    std::string error_;
    std::size_t depth_ = 0;
    std::size_t since_tag_ = 0;  // bytes
    std::size_t steps_ = 0;
    std::size_t gpu_ = 0;
    std::vector<bool> seen_;
    bool in_copy_ = false;
    std::vector<ThreadBlockStep> copies_;  // of the GPU
    const XML_Char** attributes_ = nullptr;
};

}  // namespace

bool looks_like_xml(ByteSource& source) {
    source.ensure(256);
    std::string_view text = source.window();
    if (text.starts_with("\xef\xbb\xbf")) {
        text.remove_prefix(3);
    }
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && text[first] == '<';
}

ThreadBlockAlgorithm read_msccl(ByteSource& source) {
    return Reader(source).read();
}

}  // namespace astra
