#include "older_opencv.hpp"

#include <cstdint>
#include <set>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace {

// Protocol buffers, as far as ONNX needs them here. Fields: see onnx.proto.

struct Field {
  uint32_t number = 0;
  uint32_t wire = 0;
  uint64_t value = 0;       // of wire type 0
  std::string_view content; // of wire type 2
  std::string_view whole;
};

struct Malformed : std::runtime_error {
  Malformed() : std::runtime_error("not a protocol buffer") {}
};

uint64_t varint(std::string_view bytes, size_t &at) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at >= bytes.size()) throw Malformed();
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  throw Malformed();
}

std::vector<Field> fields(std::string_view message) {
  std::vector<Field> found;
  for (size_t at = 0; at < message.size();) {
    const size_t start = at;
    const uint64_t key = varint(message, at);
    Field field;
    field.number = static_cast<uint32_t>(key >> 3);
    field.wire = static_cast<uint32_t>(key & 7);
    uint64_t count = 0;
    switch (field.wire) {
    case 0: field.value = varint(message, at); break;
    case 1: count = 8; break;
    case 2: count = varint(message, at); break;
    case 5: count = 4; break;
    default: throw Malformed();
    }
    if (count > message.size() - at) throw Malformed();
    field.content = message.substr(at, count);
    at += count;
    field.whole = message.substr(start, at - start);
    found.push_back(field);
  }
  return found;
}

std::string number(uint64_t value) {
  std::string bytes;
  for (; value > 0x7F; value >>= 7) bytes += static_cast<char>((value & 0x7F) | 0x80);
  return bytes + static_cast<char>(value);
}

std::string piece(uint32_t field, const std::string &content) {
  return number(field << 3 | 2) + number(content.size()) + content;
}

/// Numbers, packed or one by one.
std::vector<uint64_t> numbers(const std::vector<Field> &message, uint32_t field) {
  std::vector<uint64_t> values;
  for (const Field &one : message) {
    if (one.number != field) continue;
    if (one.wire == 0) values.push_back(one.value);
    if (one.wire == 2) for (size_t at = 0; at < one.content.size();) values.push_back(varint(one.content, at));
  }
  return values;
}

/// Candidates of an output [1, 4 + classes, candidates]; 0: it is another.
uint64_t candidates(std::string_view output) {
  std::vector<uint64_t> sizes;
  for (const Field &type : fields(output)) {
    if (type.number != 2) continue;
    for (const Field &tensor : fields(type.content)) {
      if (tensor.number != 1) continue;
      for (const Field &shape : fields(tensor.content)) {
        if (shape.number != 2) continue;
        for (const Field &dimension : fields(shape.content)) {
          const auto size = numbers(fields(dimension.content), 1);
          sizes.push_back(size.empty() ? 0 : size[0]);
        }
      }
    }
  }
  return sizes.size() == 3 && sizes[0] == 1 && sizes[1] > 4 ? sizes[2] : 0;
}

/// A tensor [1, candidates] of floats as [1, 4, candidates]; any other as it is.
std::string whole(std::string_view tensor, uint64_t candidates) {
  const auto parts = fields(tensor);
  const auto type = numbers(parts, 2);
  if (numbers(parts, 1) != std::vector<uint64_t>{1, candidates} || type != std::vector<uint64_t>{1}) return std::string(tensor);
  std::string rest, values;
  uint32_t kind = 0;
  for (const Field &part : parts) {
    if (part.number == 1) continue;
    const bool is_values = part.number == 9 || part.number == 4;
    if (is_values) { kind = part.number; values += part.content; } else { rest += part.whole; }
  }
  if (values.size() != candidates * 4) return std::string(tensor);
  std::string sizes;
  for (const uint64_t size : {uint64_t{1}, uint64_t{4}, candidates}) sizes += number(1 << 3) + number(size);
  return sizes + rest + piece(kind, values + values + values + values);
}

std::string rewritten(std::string_view graph) {
  uint64_t count = 0;
  std::set<std::string_view> factors;
  for (const Field &part : fields(graph)) {
    if (part.number == 12) count = candidates(part.content);
    if (part.number != 1) continue;
    const auto node = fields(part.content);
    bool multiplies = false;
    for (const Field &one : node) multiplies = multiplies || (one.number == 4 && one.content == "Mul");
    if (multiplies) for (const Field &one : node) if (one.number == 1) factors.insert(one.content);
  }
  if (count == 0) return std::string(graph);
  std::string bytes;
  for (const Field &part : fields(graph)) {
    bool is_factor = false;
    if (part.number == 5) {
      for (const Field &one : fields(part.content)) is_factor = is_factor || (one.number == 8 && factors.count(one.content) > 0);
    }
    if (is_factor) bytes += piece(5, whole(part.content, count)); else bytes += part.whole;
  }
  return bytes;
}

} // namespace

std::string with_whole_strides(const std::string &model) {
  try {
    std::string bytes;
    for (const Field &part : fields(model)) {
      if (part.number == 7 && part.wire == 2) bytes += piece(7, rewritten(part.content)); else bytes += part.whole;
    }
    return bytes;
  } catch (const Malformed &) {
    // OpenCV says it better.
    return model;
  }
}
