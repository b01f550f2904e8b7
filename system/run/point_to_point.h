// Sends and receives, matched by source, destination, tag and number.
//
// Eager (default): the data leaves when the sender comes to its send. Rendezvous: the receiver,
// when it comes to its receive, asks with a message of 8192 bytes, and the data leaves when both
// are there. A send of a rank to itself is a copy that costs nothing.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "astra/core/callback.h"
#include "astra/core/event_queue.h"
#include "astra/core/peer_wait.h"
#include "astra/core/recorder/recorder.h"
#include "astra/core/types.h"
#include "network/backend/backend.h"
#include "system/run/message_costs.h"

namespace astra {

struct PointRequest {
    std::uint32_t source = 0;
    std::uint32_t destination = 0;
    std::uint32_t tag = 0;
    Bytes bytes;
    std::uint32_t number = 0;   // among those of source, destination and tag
    std::uint64_t node_id = 0;  // for messages
};

class PointToPoint {
  public:
    PointToPoint(EventQueue& queue, NetworkBackend& network, const EndpointCosts& costs)
        : queue_(queue),
          network_(network),
          rendezvous_(costs.rendezvous),
          ends_on_arrival_(costs.rendezvous || costs.sends_end_on_arrival) {}

    // Tells the recorder of receives that wait for their sender; null for none. Before the run.
    void record(Recorder* recorder) { recorder_ = recorder; }
    bool rendezvous() const { return rendezvous_; }

    // `done` runs when the send is done for its rank. Throws InputError when the matching receive
    // expects another size.
    void send(const PointRequest& request, Callback done);
    // `done` runs when the data has arrived and the receive is posted.
    void receive(const PointRequest& request, Callback done);

    // Of the op whose `done` runs.
    const PeerWait& wait() const { return wait_; }
    // Of those that have not ended.
    void add_unfinished(std::vector<UnfinishedWait>& waits) const;

    std::uint64_t messages() const { return messages_; }
    std::uint64_t bytes() const { return bytes_; }

    // Sends that nobody received, "rank 0 -> rank 1, tag 7, 8 B (node 3)", by source, destination,
    // tag.
    std::vector<std::string> unreceived() const;
    // The near match of a receive that waits: sends between the same ranks under another tag. "" if
    // none.
    std::string near_match(const PointRequest& receive) const;

  private:
    static constexpr std::uint32_t kNone = 0xffffffffU;

    struct Key {
        std::uint64_t ranks;
        std::uint32_t tag;
        std::uint32_t number;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const {
            const std::uint64_t message = (std::uint64_t{key.tag} << 32) | key.number;
            return static_cast<std::size_t>((key.ranks * 0x9e3779b97f4a7c15ULL) ^
                                            (message * 0xc2b2ae3d27d4eb4fULL));
        }
    };
    struct Transfer {
        PointRequest request;
        std::uint64_t receiver_node = 0;
        Bytes expected;
        Callback sent;
        Callback received;
        SimTime posted;   // when the receive came
        SimTime offered;  // when the send came
        bool has_send = false;
        bool has_receive = false;
        bool asked = false;
        bool arrived = false;
        bool departs = false;  // an event at its departure is to come
        bool over = false;     // arrived and received
        std::uint32_t next_free = kNone;
        Cause cause{};  // on whose behalf a rank sends to, or asks, itself
    };

    static Key key_of(const PointRequest& request) {
        return {(std::uint64_t{request.source} << 32) | request.destination,
                request.tag,
                request.number};
    }
    std::uint32_t match(const PointRequest& request);
    std::uint32_t new_transfer();
    void check_sizes(const Transfer& transfer) const;
    void inject(std::uint32_t id);
    void ask(std::uint32_t id);
    void on_asked(std::uint64_t id);
    void on_received(std::uint64_t id);
    void on_departure(std::uint64_t id);
    void on_arrival(std::uint64_t id);
    void settle(std::uint32_t id);
    // What the rank's own messages do in place of the network: an event now, with its cause kept.
    void deliver_to_itself(std::uint32_t id, Callback delivered);
    // A sender waits for its receiver under rendezvous only. Where the peer has not come it has
    // waited for it until now.
    PeerWait wait_of_sender(const Transfer& transfer) const;
    PeerWait wait_of_receiver(const Transfer& transfer) const;
    // On whose behalf a delivery acts: of the message, if it was one.
    Cause cause_of(const Transfer& transfer) const;

    EventQueue& queue_;
    NetworkBackend& network_;
    bool rendezvous_;
    bool ends_on_arrival_;
    Recorder* recorder_ = nullptr;
    std::unordered_map<Key, std::uint32_t, KeyHash> unmatched_;  // of which one side has come
    std::vector<Transfer> transfers_;
    std::uint32_t free_ = kNone;
    PeerWait wait_;
    std::uint64_t messages_ = 0;
    std::uint64_t bytes_ = 0;
};

}  // namespace astra
