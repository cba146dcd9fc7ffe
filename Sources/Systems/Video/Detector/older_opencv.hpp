// What OpenCV before 4.7 does not take of YOLOv8's own export.
#pragma once
#include <string>

/// Returns the ONNX model in these bytes in a form that OpenCV 4.6, as in Debian 12, accepts. OpenCV 4.6 cannot multiply by a tensor with
/// fewer dimensions, but YOLOv8 ends in boxes [1, 4, candidates] times strides [1, candidates], so the strides are expanded. It takes the
/// sizes of a split from an attribute, but since version 13 of the operations they are an input, so constant sizes are moved to the
/// attribute. Anything that is not such a model is returned unchanged.
std::string for_older_opencv(const std::string &model);
