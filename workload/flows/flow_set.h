// A flow set: a plain list of messages, some of which wait for another one.
//
// One flow a line, columns apart by blanks; empty lines and lines that start with '#' are skipped:
//
//   id src dst bytes after [start]
//
// `bytes` from rank src to rank dst as soon as flow `after` has been received whole (0: none), but
// not before `start` (a time with a unit, as in 5us, from the start of the job; default 0). Ids are
// positive and unique, in any order; `after` may name a later line.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "astra/core/types.h"

namespace astra {

// Immutable; flows have the indices 0 … size()-1 in the order of the file. 36 bytes a flow, and 8
// more if any has a start of its own.
class FlowSet {
  public:
    static constexpr std::uint32_t kNone = 0xffffffffU;
    static constexpr std::uint32_t kMostFlows = 1U << 26;
    // The largest size of one flow. All flows of a set may have 64 times as many.
    static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 56;

    // Reads a regular file, compressed (gzip, zstd) or not. Throws TraceError "file:line: what" on
    // anything else than flows between ranks below `ranks`: columns that are missing or no numbers,
    // ids twice, `after` unknown or in a circle, a flow from a rank to itself, sizes and counts
    // beyond the limits, no flow at all. Cost: about 0.1 us a flow.
    static FlowSet read(const std::string& file, std::uint32_t ranks);

    std::uint32_t size() const { return static_cast<std::uint32_t>(id_.size()); }
    std::uint64_t id(std::uint32_t flow) const { return id_[flow]; }
    Bytes bytes(std::uint32_t flow) const { return {bytes_[flow]}; }
    std::uint32_t source(std::uint32_t flow) const { return source_[flow]; }
    std::uint32_t destination(std::uint32_t flow) const { return destination_[flow]; }
    // The flow that must have been received, or kNone.
    std::uint32_t parent(std::uint32_t flow) const { return parent_[flow]; }
    // The flows that wait for this one, in the order of the file.
    std::span<const std::uint32_t> children(std::uint32_t flow) const {
        return {child_.data() + child_begin_[flow], child_.data() + child_begin_[flow + 1]};
    }
    // From the start of the job.
    Duration earliest(std::uint32_t flow) const {
        return {earliest_ps_.empty() ? 0 : earliest_ps_[flow]};
    }

  private:
    friend class FlowSetReader;
    void link_children();

    std::vector<std::uint64_t> id_;
    std::vector<std::uint64_t> bytes_;
    std::vector<std::uint32_t> source_;
    std::vector<std::uint32_t> destination_;
    std::vector<std::uint32_t> parent_;
    std::vector<std::uint32_t> child_begin_;  // of flow i: child_[child_begin_[i]] …
    std::vector<std::uint32_t> child_;
    std::vector<std::uint64_t> earliest_ps_;  // empty if all are 0
};

}  // namespace astra
