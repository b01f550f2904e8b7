// Where a program comes from that is no pure function of a shape: a file, or a synthesiser that
// looks at the links between the ranks. The engine runs and keeps such programs as it does those of
// the registered algorithms (algorithm.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "astra/config/config_view.h"
#include "astra/core/warnings.h"
#include "network/routing/routing.h"
#include "system/program/program.h"

namespace astra {

// A program for these very ranks. References live as long as the call.
struct ProgramRequest {
    ProgramShape shape;  // without variant and direction
    Routing& routing;
    std::span<const std::uint32_t> ranks;  // of the fabric, a member each
    Bytes size;                            // of the whole buffer, as size_class gives it
    Duration endpoint_delay;               // of a message, after it has come
    Bandwidth memory;                      // of a rank; a reduction passes it three times
};

class ProgramSource {
  public:
    ProgramSource() = default;
    ProgramSource(const ProgramSource&) = delete;
    ProgramSource& operator=(const ProgramSource&) = delete;
    virtual ~ProgramSource() = default;

    // False if groups of one shape run one program, whatever their ranks.
    virtual bool depends_on_ranks() const = 0;
    // For what size the program is made that runs on a buffer of `size` bytes; the same for all
    // sizes if the program does not depend on it.
    virtual Bytes size_class(Bytes) const { return {}; }
    // Why there is no program for the request; "" if there is one. Called before anything is
    // simulated, for the group of each phase that is to run it.
    virtual std::string refusal(const ProgramRequest& request, Warnings& warnings) const = 0;
    // Requires that the request is not refused. The program is for good: the caller keeps it.
    virtual Program make(const ProgramRequest& request) const = 0;
};

// Opens what a study names instead of an algorithm: `{file: ring.xml}`.
class ProgramReader {
  public:
    ProgramReader() = default;
    ProgramReader(const ProgramReader&) = delete;
    ProgramReader& operator=(const ProgramReader&) = delete;
    virtual ~ProgramReader() = default;
    // `entry` is the map, or the name of the file alone. Throws ConfigError, and TraceError for
    // what is wrong in the file.
    virtual std::unique_ptr<const ProgramSource> open(const ConfigView& entry) const = 0;
};

}  // namespace astra
