// Packets and the arena that they live in. An index, never an address, names a packet.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace astra::packet {

// No packet, flow, feeder or link.
inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

enum class PacketKind : std::uint32_t {
    Data,
    Trimmed,  // data that lost its payload in a full queue (ndp)
    Ack,      // everything below travels from the destination of the flow to its source
    Nack,
    Pull,      // an acknowledgement that also allows one more packet (ndp)
    NackPull,  // asks for the packet again and allows it (ndp)
    Congestion,
};

// 40 bytes.
struct Packet {
    static constexpr std::uint32_t kMostBytes = (1U << 24) - 1;

    std::uint64_t time_ps = 0;  // on a link: when it comes to the end
    // When it left its source, which an acknowledgement repeats; while it waits in a switch under
    // priority flow control, the link that it came from.
    std::uint64_t tag = 0;
    std::uint32_t next = kNone;  // behind it in a queue, on a link or among the free ones
    std::uint32_t flow = kNone;
    std::uint32_t sequence = 0;     // number of the packet in its flow, from 0
    std::uint32_t destination = 0;  // rank
    std::uint32_t path = 0;         // what is left of its path number, see Forwarding::choose

    std::uint32_t bytes() const { return word_ & kMostBytes; }
    PacketKind kind() const { return static_cast<PacketKind>(word_ >> 28); }
    bool marked() const { return (word_ & kMarked) != 0; }
    bool handled() const { return (word_ & kHandled) != 0; }
    // Everything but data may overtake it.
    bool is_control() const { return word_ >> 28 != 0; }

    void set(PacketKind kind, std::uint32_t bytes) {
        word_ = (static_cast<std::uint32_t>(kind) << 28) | bytes;
    }
    void mark() { word_ |= kMarked; }
    // Its loss needs no timeout any more.
    void set_handled() { word_ |= kHandled; }

  private:
    static constexpr std::uint32_t kMarked = 1U << 24;
    static constexpr std::uint32_t kHandled = 1U << 25;
    std::uint32_t word_ = 0;
};
static_assert(sizeof(Packet) == 40);

// A list of packets, first in first out; they are linked by Packet::next.
struct PacketList {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;

    bool empty() const { return first == kNone; }
};

// References are valid until the next allocate().
class PacketArena {
  public:
    Packet& operator[](std::uint32_t id) { return packets_[id]; }
    const Packet& operator[](std::uint32_t id) const { return packets_[id]; }

    // The fields of a packet that was freed are not reset, but next.
    std::uint32_t allocate() {
        if (free_ == kNone) {
            packets_.emplace_back();
            return static_cast<std::uint32_t>(packets_.size() - 1);
        }
        const std::uint32_t id = free_;
        free_ = packets_[id].next;
        packets_[id].next = kNone;
        return id;
    }
    void free(std::uint32_t id) {
        packets_[id].next = free_;
        free_ = id;
    }

    void append(PacketList& list, std::uint32_t id) {
        packets_[id].next = kNone;
        if (list.first == kNone) {
            list.first = id;
        } else {
            packets_[list.last].next = id;
        }
        list.last = id;
    }
    // Requires a list that is not empty.
    std::uint32_t take_first(PacketList& list) {
        const std::uint32_t id = list.first;
        list.first = packets_[id].next;
        return id;
    }

  private:
    std::vector<Packet> packets_;
    std::uint32_t free_ = kNone;
};

}  // namespace astra::packet
