// What OpenCV before 4.7 does not take of YOLOv8's own export.
#pragma once
#include <string>

/// The ONNX model in these bytes with one constant written out: OpenCV 4.6, Debian 12's, multiplies nothing by fewer dimensions, and
/// YOLOv8 ends in boxes [1, 4, candidates] times strides [1, candidates]. Whatever is no such model comes back as it is.
std::string with_whole_strides(const std::string &model);
