"""An ONNX model with YOLOv8's output that finds what is bright, written byte by byte: no package makes it, nobody has trained it.

Each cell of a grid is a candidate: a box of twice the cell's size around its middle, whose confidence is a sigmoid of the cell's
mean brightness.
"""
import struct

FLOAT, INT64 = 1, 7


def varint(value):
    out = b""
    while value > 0x7F:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def piece(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def tensor(name, shape, values, kind=FLOAT):
    raw = struct.pack(f"<{len(values)}{'f' if kind == FLOAT else 'q'}", *values)
    return b"".join(number(1, size) for size in shape) + number(2, kind) + piece(8, name) + piece(9, raw)


def attribute(name, values):
    return piece(5, piece(1, name) + b"".join(number(8, value) for value in values) + number(20, 7))


def axis(value):
    return piece(5, piece(1, "axis") + number(3, value) + number(20, 2))


def node(kind, inputs, output, *attributes):
    return piece(1, b"".join(piece(1, name) for name in inputs) + piece(2, output) + piece(3, output) + piece(4, kind)
                 + b"".join(attributes))


def declared(name, shape):
    sizes = b"".join(piece(1, number(1, size)) for size in shape)
    return piece(1, name) + piece(2, piece(1, number(1, FLOAT) + piece(2, sizes)))


def model(graph):
    return number(1, 7) + piece(2, "tests") + piece(7, graph) + piece(8, piece(1, "") + number(2, 12))


def bright(side, cell, threshold=0.40):
    count = side // cell
    cells = count * count
    middles = [(index + 0.5) * cell for index in range(count)]
    boxes = [middles[index % count] for index in range(cells)] + [middles[index // count] for index in range(cells)]
    boxes += [2.0 * cell] * (2 * cells)
    steepness = 20.0
    weights = [steepness / (3 * cell * cell)] * (3 * cell * cell)
    graph = (
        node("Conv", ["images", "weights", "bias"], "brightness", attribute("kernel_shape", [cell, cell]),
             attribute("strides", [cell, cell]))
        + node("Sigmoid", ["brightness"], "scores")
        + node("Reshape", ["scores", "shape"], "row")
        + node("Concat", ["boxes", "row"], "output0", axis(1))
        + piece(2, "bright")
        + piece(5, tensor("weights", [1, 3, cell, cell], weights))
        + piece(5, tensor("bias", [1], [-steepness * threshold]))
        + piece(5, tensor("shape", [3], [1, 1, cells], INT64))
        + piece(5, tensor("boxes", [1, 4, cells], boxes))
        + piece(11, declared("images", [1, 3, side, side]))
        + piece(12, declared("output0", [1, 5, cells])))
    return model(graph)
