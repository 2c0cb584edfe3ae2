// Between site_names.cpp and the program pclscope-lines: one packet per question, one per answer, in the same order.
// Both ends are of one build and one machine; nothing of this is stored.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analysis/values/place.hpp"

namespace pclscope::callsite {

inline constexpr std::size_t longest_text = 4096;  // of a path or a function's name; longer ones are cut
inline constexpr std::size_t longest_packet = 3 * longest_text;

struct Question {
  std::uint32_t id = 0;
  std::uint64_t offset = 0;  // link-time return address
  std::string path;          // of the module
  std::string build_id;
};

struct Answer {
  std::uint32_t id = 0;
  Place place;
};

struct PacketHead {
  std::uint64_t number = 0;  // offset or line
  std::uint32_t id = 0;
  std::uint32_t first_bytes = 0;  // of the first text; the rest is the second one
};

inline std::string pack(std::uint32_t id, std::uint64_t number, std::string_view first, std::string_view second) {
  first = first.substr(0, longest_text);
  second = second.substr(0, longest_text);
  const PacketHead head{number, id, static_cast<std::uint32_t>(first.size())};
  std::string packet(sizeof head, '\0');
  std::memcpy(packet.data(), &head, sizeof head);
  packet += first;
  packet += second;
  return packet;
}

struct Packet {
  PacketHead head;
  std::string first, second;
};

inline std::optional<Packet> unpack(std::span<const char> bytes) {
  Packet packet;
  if (bytes.size() < sizeof packet.head) return std::nullopt;
  std::memcpy(&packet.head, bytes.data(), sizeof packet.head);
  bytes = bytes.subspan(sizeof packet.head);
  if (packet.head.first_bytes > bytes.size()) return std::nullopt;
  packet.first.assign(bytes.begin(), bytes.begin() + packet.head.first_bytes);
  packet.second.assign(bytes.begin() + packet.head.first_bytes, bytes.end());
  return packet;
}

inline std::string pack(const Question& q) { return pack(q.id, q.offset, q.path, q.build_id); }
inline std::string pack(const Answer& a) { return pack(a.id, a.place.line, a.place.function, a.place.file); }

inline std::optional<Question> unpack_question(std::span<const char> bytes) {
  const auto p = unpack(bytes);
  return p ? std::optional(Question{p->head.id, p->head.number, p->first, p->second}) : std::nullopt;
}
inline std::optional<Answer> unpack_answer(std::span<const char> bytes) {
  const auto p = unpack(bytes);
  if (!p) return std::nullopt;
  return Answer{p->head.id, {p->first, p->second, static_cast<std::uint32_t>(p->head.number)}};
}

}  // namespace pclscope::callsite
