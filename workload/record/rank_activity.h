// What a rank has been busy with: lengths of unions of intervals, kept up at every start and end of
// an op.
//
// How long an op of communication waited for its peers is known when it ends. So exposed
// communication is measured as it passes, and waiting is cut out of it as ops end. A moment at
// which one op waits while another transfers is waiting: a faster network would not shorten it.
// Points in time are looked up among the turns between exposed and hidden since communication
// began. Cost: O(1) an op that waits for nobody; of others O(log turns + waits that they overlap).
// Memory: 24 bytes a turn and 16 a wait until nothing communicates.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "astra/core/peer_wait.h"
#include "astra/core/records.h"
#include "astra/core/types.h"

namespace astra {

enum class Activity : std::uint8_t { Compute, Communication, Memory, Other };

class RankActivity {
  public:
    void begin(Activity what, SimTime now) {
        pass(now);
        ++running_[static_cast<std::size_t>(what)];
    }
    void end(Activity what, SimTime now) {
        pass(now);
        --running_[static_cast<std::size_t>(what)];
        if (!is_running(Activity::Communication)) {
            settle();
        }
    }
    // What of an op of communication no GPU compute hid.
    struct Exposed {
        Duration wait;      // for its peers
        Duration transfer;  // from then on, but for what another op that ended before has had
    };
    Exposed end_communication(const PeerWait& wait, SimTime now);

    // `finish`: when it finished, or how far the run came without it; `unfinished`: its ops of
    // communication that have not ended.
    RankRecord record(RankId rank,
                      SimTime finish,
                      const std::vector<PeerWait>& unfinished = {}) const;

  private:
    // From here on communication is exposed, or hidden.
    struct Turn {
        SimTime at;
        std::uint64_t before_ps = 0;  // exposed until then
        bool exposed = false;
    };
    // Of waiting, on the scale of exposed communication.
    struct Stretch {
        std::uint64_t begin_ps = 0;
        std::uint64_t end_ps = 0;
    };

    bool is_running(Activity what) const { return running_[static_cast<std::size_t>(what)] > 0; }
    void pass(SimTime now);
    std::uint64_t exposed_until(SimTime when) const;
    Duration cut(const PeerWait& wait, SimTime now);
    void settle() {
        if (!stretches_.empty()) {
            add_stretches();
        }
        turns_.clear();
    }
    void add_stretches();

    std::array<std::uint32_t, 4> running_{};
    SimTime last_;
    Duration compute_;
    Duration communication_;
    Duration memory_;
    Duration exposed_communication_;  // waiting included
    Duration waiting_;                // as far as it is settled
    Duration exposed_memory_;
    std::uint64_t shared_out_ps_ = 0;  // exposed communication that ops which ended have had
    std::vector<Turn> turns_;          // since communication began
    std::vector<Stretch> stretches_;   // apart from each other, ascending
};

}  // namespace astra
