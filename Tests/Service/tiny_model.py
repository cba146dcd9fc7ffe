"""ONNX models with YOLOv8's output, written byte by byte: no package makes them, nobody has trained them.

The first finds what is bright. Each cell of a grid is a candidate: a box of twice the cell's size around its middle, whose confidence is a sigmoid of the cell's
mean brightness.
"""
import random
import struct

FLOAT, INT64 = 1, 7


def varint(value):
    out = b""
    while value > 0x7F:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value & 0xFFFF_FFFF_FFFF_FFFF)


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


def model(graph, operations=12):
    return number(1, 7) + piece(2, "tests") + piece(7, graph) + piece(8, piece(1, "") + number(2, operations))


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


class Graph:
    """Nodes and constants, one after the other, by a version of ONNX's operations."""

    def __init__(self, operations):
        self.operations = operations
        self.nodes = self.constants = b""
        self.random = random.Random(8)

    def constant(self, name, shape, values, kind=FLOAT):
        self.constants += piece(5, tensor(name, shape, values, kind))
        return name

    def node(self, kind, inputs, *outputs, **attributes):
        made = []
        for name, value in attributes.items():
            if isinstance(value, list):
                made.append(attribute(name, value))
            elif isinstance(value, str):
                made.append(piece(5, piece(1, name) + piece(4, value) + number(20, 3)))
            else:
                made.append(piece(5, piece(1, name) + number(3, value) + number(20, 2)))
        names = b"".join(piece(1, name) for name in inputs) + b"".join(piece(2, name) for name in outputs)
        self.nodes += piece(1, names + piece(3, outputs[0]) + piece(4, kind) + b"".join(made))
        return outputs[0]

    def constant_node(self, name, shape, values):
        value = piece(1, "value") + piece(5, tensor(name, shape, values)) + number(20, 4)
        self.nodes += piece(1, piece(2, name) + piece(3, name) + piece(4, "Constant") + piece(5, value))
        return name

    def split(self, source, sizes, *outputs):
        """Its sizes are an attribute, and from version 13 on an input."""
        if self.operations < 13:
            return self.node("Split", [source], *outputs, axis=1, split=sizes)
        return self.node("Split", [source, self.constant(source + ".sizes", [len(sizes)], sizes, INT64)], *outputs, axis=1)

    def convolve(self, source, name, channels, size, stride=1):
        """With its activation, as YOLOv8 has it everywhere."""
        before, after = channels
        weights = [self.random.uniform(-0.1, 0.1) for _ in range(after * before * size * size)]
        self.constant(name + ".w", [after, before, size, size], weights)
        self.node("Conv", [source, name + ".w"], name + ".c", kernel_shape=[size] * 2, strides=[stride] * 2,
                  pads=[size // 2 if stride == 1 else 0] * 4)
        self.node("Sigmoid", [name + ".c"], name + ".s")
        return self.node("Mul", [name + ".c", name + ".s"], name)


def yolo(classes, operations):
    """The operations of YOLOv8's export, simplified, upon a square of 64 pixels, with weights of chance. Its newer simplifier leaves
    constants as nodes."""
    graph = Graph(operations)
    graph.convolve("images", "a", (3, 16), 8, 8)
    graph.split("a", [8, 8], "a1", "a2")
    graph.node("Add", ["a2", graph.convolve("a2", "a3", (8, 8), 3)], "a4")
    graph.node("Concat", ["a1", "a2", "a4"], "a5", axis=1)
    graph.convolve("a5", "p", (24, 16), 1)
    graph.node("MaxPool", ["p"], "m", kernel_shape=[5, 5], strides=[1, 1], pads=[2, 2, 2, 2])
    graph.node("Concat", ["p", "m"], "pm", axis=1)
    graph.convolve(graph.convolve("pm", "q0", (32, 16), 1), "q", (16, 16), 2, 2)
    graph.node("Resize", ["q", "", graph.constant("scales", [4], [1, 1, 2, 2])], "up", mode="nearest", nearest_mode="floor",
               coordinate_transformation_mode="asymmetric")
    graph.node("Concat", ["up", "p"], "n", axis=1)
    levels = [(graph.convolve("n", "l", (32, 16), 1), 8, 8), ("q", 4, 16)]
    rows, columns, lines, strides = [], [], [], []
    for source, cells, stride in levels:
        boxes = graph.convolve(source, f"b{stride}", (16, 64), 1)
        scores = graph.convolve(source, f"k{stride}", (16, classes), 1)
        graph.node("Concat", [boxes, scores], f"x{stride}", axis=1)
        shape = graph.constant(f"shape{stride}", [3], [1, 64 + classes, -1], INT64)
        rows.append(graph.node("Reshape", [f"x{stride}", shape], f"r{stride}"))
        columns += [index % cells + 0.5 for index in range(cells * cells)]
        lines += [index // cells + 0.5 for index in range(cells * cells)]
        strides += [stride] * (cells * cells)
    count = len(strides)
    graph.node("Concat", rows, "all", axis=2)
    graph.split("all", [64, classes], "box", "cls")
    graph.node("Reshape", ["box", graph.constant("bins", [4], [1, 4, 16, count], INT64)], "d0")
    graph.node("Transpose", ["d0"], "d1", perm=[0, 2, 1, 3])
    graph.node("Softmax", ["d1"], "d2", axis=1)
    graph.constant("means", [1, 16, 1, 1], [float(value) for value in range(16)])
    graph.node("Conv", ["d2", "means"], "d3", kernel_shape=[1, 1], strides=[1, 1], pads=[0, 0, 0, 0])
    graph.node("Reshape", ["d3", graph.constant("sides", [3], [1, 4, count], INT64)], "d4")
    graph.split("d4", [2, 2], "lt", "rb")
    graph.constant("anchors", [1, 2, count], columns + lines)
    graph.node("Sub", ["anchors", "lt"], "corner")
    graph.node("Add", ["anchors", "rb"], "other")
    graph.node("Add", ["corner", "other"], "sum")
    graph.node("Div", ["sum", graph.constant("two", [], [2.0])], "middle")
    graph.node("Sub", ["other", "corner"], "size")
    graph.node("Concat", ["middle", "size"], "xywh", axis=1)
    constant = graph.constant if operations < 13 else graph.constant_node
    graph.node("Mul", ["xywh", constant("strides", [1, count], strides)], "pixels")
    graph.node("Sigmoid", ["cls"], "confidence")
    graph.node("Concat", ["pixels", "confidence"], "output0", axis=1)
    return model(
        graph.nodes + piece(2, "yolo") + graph.constants + piece(11, declared("images", [1, 3, 64, 64]))
        + piece(12, declared("output0", [1, 4 + classes, count])), operations)
