// What OpenCV before 4.7 does not take of YOLOv8's own export.
#pragma once
#include <string>

/// The ONNX model in these bytes as OpenCV 4.6, Debian 12's, takes it. It multiplies nothing by fewer dimensions, and YOLOv8 ends in
/// boxes [1, 4, candidates] times strides [1, candidates]: these are written out. It splits by an attribute, and since version 13 of the
/// operations the sizes are an input: those that are constant become one. Whatever is no such model comes back as it is.
std::string for_older_opencv(const std::string &model);
