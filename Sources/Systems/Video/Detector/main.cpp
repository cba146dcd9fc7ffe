// tactus-detect MODEL: a detector as Sources/Systems/Video/README.md describes it, by OpenCV's network module. The model is the user's; its
// output, [1, 4 + classes, candidates], goes back as it is.
#include <cstdio>

#if DETECTION
#if !__has_include(<opencv2/dnn.hpp>)
#error "apt install libopencv-dnn-dev, or build without the trait Detection: swift build --disable-default-traits --traits …"
#else
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <opencv2/dnn.hpp>
#include <string>
#include <thread>
#include <vector>

#include "CProcess.h"
#include "older_opencv.hpp"

/// Reports a failure in one line and returns the exit status. For an exception of OpenCV, pass `err`, which has no place in its source.
static int fail(const std::string &what) {
  std::string line = what.substr(0, 400);
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::printf("failed %s\n", line.c_str());
  std::fflush(stdout);
  return 1;
}

static int serve(const char *model) {
  std::ifstream file(model, std::ios::binary);
  if (!file) return fail(std::string(model) + " cannot be read: " + std::strerror(errno));
  const std::string contents{std::istreambuf_iterator<char>(file), {}};
  // Before a byte of it is understood. From now on: compute, read standard input, write standard output.
  static const char *const accounts[] = {"tactus-video", "nobody", nullptr};
  process_needs needs = {};
  needs.descriptors = 256;
  // A small model takes some hundred megabytes.
  needs.memory = UINT64_C(2) << 30;
  needs.accounts = accounts;
  if (const char *missing = process_confine(&needs))
    std::fprintf(stderr, "the kernel confines tactus-detect only in part, without %s\n", missing);
  const std::string bytes = for_older_opencv(contents);
  cv::dnn::Net net;
  try {
    net = cv::dnn::readNetFromONNX(bytes.data(), bytes.size());
  } catch (const cv::Exception &error) {
    return fail(std::string(model) + " is not taken by OpenCV " CV_VERSION " (YOLOv8's export with simplify=True, of a fixed size, is): " +
                error.err);
  }
  if (net.empty()) return fail(std::string(model) + " has no layers");
  // A core for the encoder, and the control loops come before both.
  cv::setNumThreads(std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1));
  int side = 0;
  std::vector<unsigned char> picture;
  while (std::scanf("picture %d", &side) == 1 && std::getchar() == '\n') {
    if (side <= 0 || side > 4096) return fail("a picture of " + std::to_string(side) + " pixels was announced");
    picture.resize(static_cast<size_t>(side) * side * 3);
    if (std::fread(picture.data(), 1, picture.size(), stdin) != picture.size()) return 0;
    const cv::Mat image(side, side, CV_8UC3, picture.data());
    net.setInput(cv::dnn::blobFromImage(image, 1 / 255.0));
    const cv::Mat output = net.forward();
    if (output.dims != 3 || output.size[0] != 1 || output.type() != CV_32F || !output.isContinuous()) {
      return fail(std::string(model) + ": its output has " + std::to_string(output.dims) +
                  " dimensions; [1, 4 + classes, candidates] was expected");
    }
    std::printf("tensor %d %d\n", output.size[1], output.size[2]);
    std::fwrite(output.data, sizeof(float), output.total(), stdout);
    if (std::fflush(stdout) != 0) return 0;
  }
  return 0;
}

int main(int count, char *arguments[]) {
  if (count != 2) {
    std::fprintf(stderr, "usage: tactus-detect MODEL; tactus-video starts it, with pictures on its standard input\n");
    return 64;
  }
  try {
    return serve(arguments[1]);
  } catch (const cv::Exception &error) {
    return fail(std::string(arguments[1]) + ": " + error.err);
  } catch (const std::exception &error) {
    return fail(std::string(arguments[1]) + ": " + error.what());
  }
}
#endif

#else
int main() {
  std::printf("failed this build has no detector: it was made without the trait Detection\n");
  return 1;
}
#endif
