// The parameters of DCQCN, under network.packet.dcqcn.
//
// The paper's values are for links of 40 Gb/s. A default that is a size or a rate grows in
// proportion to the rate of the link ("at 40 Gb/s"); a value that is given is taken as it is.
//
//   key            default               meaning (section of the paper)
//   pfc            true                  priority flow control
//   kmin, kmax     5 KB, 200 KB at 40 Gb/s  waiting data that begins to be marked, and that always
//                                        is (3.1, 5.2; here and below the deployed values)
//   pmax           0.01                  probability of a mark just below kmax
//   cnp_interval   50us                  least time between two notifications to a flow (3.1)
//   g              0.00390625            weight of a notification in alpha, 1/256 (3.1)
//   alpha_timer    55us                  without a notification for so long, alpha falls (3.1)
//   rate_timer     55us                  a step of increase after each (5.2)
//   byte_counter   10 MB at 40 Gb/s      … and after so many bytes (5.2)
//   fast_recovery  5                     steps of either kind towards the old rate (3.1)
//   rate_ai        40 Mb/s at 40 Gb/s    additive increase of a step (3.1)
//   rate_hai       5 rate_ai             hyper increase of a step, once both kinds are past fast
//                                        recovery (from QCN; the paper names no value)
//   min_rate       line rate / 1000      the least rate
//   shared_buffer  196 KB at 40 Gb/s     of a switch for each port: 12 MB for 32, without headroom
//                                        (4: B, n, t_flight)
//   pfc_share      1                     of the free shared buffer that a port may hold (4: beta/8)
//   headroom       auto                  of a port; auto: what can come after a pause (4)
//   ack_every      16                    packets that one acknowledgement covers
//   buffer (of network.packet)           without pfc; default: shared_buffer
#pragma once

#include <cstdint>

#include "astra/config/config_view.h"
#include "network/backend/packet/packet.h"
#include "network/backend/packet/settings.h"

namespace astra::packet {

inline constexpr std::uint64_t kDcqcnReferenceBitsPerS = 40'000'000'000;
inline constexpr std::uint64_t kDcqcnOne = std::uint64_t{1} << 32;  // 1 in alpha, g and pmax

struct DcqcnSettings {
    bool pfc = true;
    std::uint64_t kmin_bytes = 0;  // 0: by the rate of the link, here and below
    std::uint64_t kmax_bytes = 0;
    std::uint64_t pmax = 0;
    std::uint64_t cnp_interval_ps = 0;
    std::uint64_t g = 0;
    std::uint64_t alpha_timer_ps = 0;
    std::uint64_t rate_timer_ps = 0;
    std::uint64_t byte_counter_bytes = 0;
    std::uint64_t fast_recovery = 0;
    std::uint64_t rate_ai_bits_per_s = 0;
    std::uint64_t rate_hai_bits_per_s = 0;
    std::uint64_t min_rate_bits_per_s = 0;
    std::uint64_t shared_bytes = 0;
    std::uint64_t share_permille = 1000;
    std::uint64_t headroom_bytes = kNever;
    std::uint32_t ack_every = 0;
};

// Throws ConfigError.
DcqcnSettings read_dcqcn(const Settings& common, const ConfigView& section);

}  // namespace astra::packet
