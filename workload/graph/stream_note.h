// Where and when a trace says that a node ran: what the order of streams is made from.
#pragma once

#include <cstdint>

namespace astra {

// What a call that synchronises does, of CUDA's or HIP's runtime.
enum class Synchronisation : std::uint8_t {
    None,
    RecordEvent,        // cudaEventRecord
    StreamWaits,        // cudaStreamWaitEvent
    HostWaitsForEvent,  // cudaEventSynchronize
    HostWaitsForStream,
    HostWaitsForDevice,
};

struct StreamNote {
    static constexpr std::uint64_t kNone = ~std::uint64_t{0};

    std::uint64_t stream = kNone;       // of the GPU
    std::uint64_t thread = kNone;       // tid: of the host, or Kineto's of an op of the GPU
    std::uint64_t correlation = kNone;  // of the call that launched the op; ascends as calls do
    std::uint64_t start = kNone;        // recorded, ns
    std::uint64_t event = kNone;        // that is recorded or waited for
    std::uint64_t record = kNone;       // correlation of the call that recorded the event
    std::uint64_t waits_on = kNone;     // stream on which that call recorded it
    Synchronisation synchronisation = Synchronisation::None;

    bool says_something() const {
        return stream != kNone || thread != kNone || synchronisation != Synchronisation::None;
    }
};

}  // namespace astra
