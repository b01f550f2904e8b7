#include "network/backend/packet/transport/dcqcn_settings.h"

#include <string>

namespace astra::packet {

namespace {

std::uint64_t probability(const ConfigView& section, const char* key, double fallback) {
    const double value = section.number_or(key, fallback);
    if (value < 0 || value > 1) {
        section.at(key).fail("expected a number from 0 to 1");
    }
    return static_cast<std::uint64_t>(value * static_cast<double>(kDcqcnOne));
}

std::uint64_t interval_ps(const ConfigView& section, const char* key, std::uint64_t fallback_us) {
    const Duration value = section.duration_or(key, {fallback_us * 1'000'000});
    if (value.ps == 0) {
        section.at(key).fail("expected more than 0");
    }
    return value.ps;
}

// 0, the mark of "by the rate", for auto.
std::uint64_t bytes_if_given(const ConfigView& section, const char* key, std::uint64_t least) {
    if (section.string_or(key, "auto") == "auto") {
        return 0;
    }
    const std::uint64_t bytes = section.at(key).as_bytes().count;
    if (bytes < least) {
        section.at(key).fail("expected at least " + std::to_string(least) + " bytes");
    }
    return bytes;
}

std::uint64_t rate_if_given(const ConfigView& section, const char* key) {
    if (section.string_or(key, "auto") == "auto") {
        return 0;
    }
    const std::uint64_t rate = section.at(key).as_bandwidth().bits_per_s;
    if (rate == 0) {
        section.at(key).fail("expected more than 0");
    }
    return rate;
}

void read_ports(DcqcnSettings& settings, const Settings& common, const ConfigView& section) {
    settings.pfc = section.bool_or("pfc", true);
    settings.kmin_bytes = bytes_if_given(section, "kmin", 1);
    settings.kmax_bytes = bytes_if_given(section, "kmax", 1);
    if ((settings.kmin_bytes == 0) != (settings.kmax_bytes == 0)) {
        section.at(settings.kmin_bytes == 0 ? "kmax" : "kmin")
            .fail("expected kmin and kmax, or none");
    }
    if (settings.kmax_bytes < settings.kmin_bytes) {
        section.at("kmax").fail("expected at least kmin");
    }
    settings.pmax = probability(section, "pmax", 0.01);
    settings.shared_bytes = bytes_if_given(section, "shared_buffer", common.full_bytes());
    const double share = section.number_or("pfc_share", 1);
    if (share < 0.001 || share > 1000) {
        section.at("pfc_share").fail("expected a number from 0.001 to 1000");
    }
    settings.share_permille = static_cast<std::uint64_t>(share * 1000);
    if (section.string_or("headroom", "auto") != "auto") {
        settings.headroom_bytes = section.at("headroom").as_bytes().count;
    }
}

}  // namespace

DcqcnSettings read_dcqcn(const Settings& common, const ConfigView& section) {
    DcqcnSettings settings;
    read_ports(settings, common, section);
    settings.cnp_interval_ps = section.duration_or("cnp_interval", {50'000'000}).ps;
    settings.g = probability(section, "g", 1.0 / 256);
    settings.alpha_timer_ps = interval_ps(section, "alpha_timer", 55);
    settings.rate_timer_ps = interval_ps(section, "rate_timer", 55);
    settings.byte_counter_bytes = bytes_if_given(section, "byte_counter", 1);
    settings.fast_recovery = section.integer_or("fast_recovery", 5, 0, 1'000);
    settings.rate_ai_bits_per_s = rate_if_given(section, "rate_ai");
    settings.rate_hai_bits_per_s = rate_if_given(section, "rate_hai");
    settings.min_rate_bits_per_s = rate_if_given(section, "min_rate");
    settings.ack_every =
        static_cast<std::uint32_t>(section.integer_or("ack_every", 16, 1, 1'000'000));
    return settings;
}

}  // namespace astra::packet
