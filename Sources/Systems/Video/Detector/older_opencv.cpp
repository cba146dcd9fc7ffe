#include "older_opencv.hpp"

#include <cstdint>
#include <map>
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

/// Returns the numbers of a field, whether packed or separate.
std::vector<uint64_t> numbers(const std::vector<Field> &message, uint32_t field) {
  std::vector<uint64_t> values;
  for (const Field &one : message) {
    if (one.number != field) continue;
    if (one.wire == 0) values.push_back(one.value);
    if (one.wire == 2) for (size_t at = 0; at < one.content.size();) values.push_back(varint(one.content, at));
  }
  return values;
}

/// Returns the first text of a field, or an empty text if there is none.
std::string_view text(const std::vector<Field> &message, uint32_t field) {
  for (const Field &one : message) if (one.number == field && one.wire == 2) return one.content;
  return {};
}

/// Returns the number of candidates of an output [1, 4 + classes, candidates], or 0 if the output has another shape.
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

/// Returns a tensor [1, candidates] of floats as [1, 4, candidates], and any other tensor unchanged.
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

/// Returns the numbers of a one-dimensional tensor of 64-bit integers, or none if the tensor is of another kind.
std::vector<uint64_t> list(std::string_view tensor) {
  const auto parts = fields(tensor);
  if (numbers(parts, 1).size() != 1 || numbers(parts, 2) != std::vector<uint64_t>{7}) return {};
  const std::string_view raw = text(parts, 9);
  if (raw.empty()) return numbers(parts, 7);
  std::vector<uint64_t> values;
  for (size_t at = 0; at + 8 <= raw.size(); at += 8) {
    uint64_t value = 0;
    for (size_t byte = 8; byte-- > 0;) value = value << 8 | static_cast<unsigned char>(raw[at + byte]);
    values.push_back(value);
  }
  return values;
}

/// Returns the tensor of a `Constant` node, or an empty text if the node is of another kind.
std::string_view constant(const std::vector<Field> &node) {
  if (text(node, 4) != "Constant") return {};
  for (const Field &one : node) {
    if (one.number != 5) continue;
    const auto attribute = fields(one.content);
    if (text(attribute, 1) == "value") return text(attribute, 5);
  }
  return {};
}

/// Returns the message with the text of every `field` replaced by the result of `change`.
template <typename Change> std::string changed(std::string_view message, uint32_t field, Change change) {
  std::string bytes;
  for (const Field &part : fields(message)) {
    if (part.number == field && part.wire == 2) bytes += piece(field, change(part.content)); else bytes += part.whole;
  }
  return bytes;
}

/// Returns a `Split` node whose sizes, its second input, are moved to the attribute that earlier versions use.
std::string split(const std::vector<Field> &node, const std::vector<uint64_t> &sizes) {
  std::string bytes;
  unsigned inputs = 0;
  for (const Field &part : node) if (part.number != 1 || ++inputs == 1) bytes += part.whole;
  std::string attribute = piece(1, "split") + number(20 << 3) + number(7);
  for (const uint64_t size : sizes) attribute += number(8 << 3) + number(size);
  return bytes + piece(5, attribute);
}

std::string rewritten(std::string_view graph) {
  uint64_t count = 0;
  std::set<std::string_view> factors;
  std::map<std::string_view, std::string_view> constants;
  for (const Field &part : fields(graph)) {
    if (part.number == 12) count = candidates(part.content);
    if (part.number == 5) constants[text(fields(part.content), 8)] = part.content;
    if (part.number != 1) continue;
    const auto node = fields(part.content);
    if (text(node, 4) == "Mul") for (const Field &one : node) if (one.number == 1) factors.insert(one.content);
    if (const auto value = constant(node); !value.empty()) constants[text(node, 2)] = value;
  }
  if (count == 0) return std::string(graph);
  const auto node = [&](std::string_view content) {
    const auto parts = fields(content);
    if (!constant(parts).empty() && factors.count(text(parts, 2)) > 0) {
      return changed(content, 5, [&](std::string_view attribute) {
        return changed(attribute, 5, [&](std::string_view tensor) { return whole(tensor, count); });
      });
    }
    std::vector<std::string_view> inputs;
    for (const Field &one : parts) if (one.number == 1) inputs.push_back(one.content);
    if (text(parts, 4) != "Split" || inputs.size() != 2) return std::string(content);
    const auto found = constants.find(inputs[1]);
    const auto sizes = found == constants.end() ? std::vector<uint64_t>{} : list(found->second);
    return sizes.empty() ? std::string(content) : split(parts, sizes);
  };
  const auto initializer = [&](std::string_view tensor) {
    return factors.count(text(fields(tensor), 8)) > 0 ? whole(tensor, count) : std::string(tensor);
  };
  return changed(changed(graph, 1, node), 5, initializer);
}

} // namespace

std::string for_older_opencv(const std::string &model) {
  try {
    return changed(model, 7, rewritten);
  } catch (const Malformed &) {
    // OpenCV says it better.
    return model;
  }
}
