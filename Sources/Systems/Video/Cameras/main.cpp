// tactus-cameras: the cameras that libcamera knows, a line each: its name of the camera, model, location (front, back, external) and the
// modes, tabs between. A program of its own, because libcamera bears one manager a process, which libcamerasrc has where there is one,
// and because who shows a USB camera need not carry libcamera.
#include <cstdio>

#if VIDEO
#if !__has_include(<libcamera/camera.h>)
#error "apt install libcamera-dev, or build without the trait Video: swift build --disable-default-traits --traits …"
#else
#include <algorithm>
#include <libcamera/camera.h>
#include <libcamera/camera_manager.h>
#include <libcamera/property_ids.h>
#include <set>
#include <string>
#include <unistd.h>
#include <vector>

#include "CProcess.h"

using namespace libcamera;

/// Replaces control characters by spaces, so that the text stays one field in one line.
static std::string field(std::string text) {
  std::replace_if(text.begin(), text.end(), [](unsigned char byte) { return byte < 0x20; }, ' ');
  return text;
}

static const char *location(const Camera &camera) {
  switch (camera.properties().get(properties::Location).value_or(-1)) {
  case properties::CameraLocationFront: return "front";
  case properties::CameraLocationBack: return "back";
  case properties::CameraLocationExternal: return "external";
  default: return "";
  }
}

static const char *kind(const std::string &format) {
  return format.rfind("S", 0) == 0 ? "bayer" : format == "MJPEG" ? "jpeg" : "raw";
}

/// Returns the modes that the camera offers for video, such as `raw 640×480 NV12`, each size once in the first format that has it; then
/// the modes of the sensor, such as `bayer 1640×1232 SBGGR10_CSI2P`, which limit the angle of view.
static std::vector<std::string> modes(Camera &camera) {
  std::vector<std::string> found;
  std::set<std::string> known;
  for (const StreamRole role : {StreamRole::VideoRecording, StreamRole::Raw}) {
    const auto configuration = camera.generateConfiguration(std::vector<StreamRole>{role});
    if (!configuration || configuration->empty()) continue;
    const StreamFormats &formats = configuration->at(0).formats();
    for (const PixelFormat &format : formats.pixelformats()) {
      const std::string name = format.toString();
      for (const Size &size : formats.sizes(format)) {
        const std::string mode =
          std::string(kind(name)) + " " + std::to_string(size.width) + "×" + std::to_string(size.height);
        if (known.insert(mode).second) found.push_back(mode + " " + name);
      }
    }
  }
  return found;
}

/// Confines the process to cameras and the programs of libcamera that control them.
static void confine() {
  static const char *const accounts[] = {"tactus-video", "nobody", nullptr};
  static const char *const groups[] = {"video", "render", nullptr};
  static const char *const devices[] = {
    "/dev/video*", "/dev/media*", "/dev/v4l-subdev*", "/dev/dma_heap", "/dev/udmabuf", nullptr};
  process_needs needs = {};
  needs.permissions = PROCESS_PROGRAMS;
  needs.descriptors = 1024;
  needs.memory = UINT64_C(512) << 20;
  needs.accounts = accounts;
  needs.groups = groups;
  needs.devices = devices;
  if (const char *missing = process_confine(&needs))
    std::fprintf(stderr, "the kernel confines tactus-cameras only in part, without %s\n", missing);
}

int main(int count, char *[]) {
  if (count != 1) {
    std::fprintf(stderr, "usage: tactus-cameras\n");
    return 64;
  }
  // A driver that hangs ends this program, and nothing else.
  alarm(5);
  confine();
  CameraManager manager;
  if (const int error = manager.start(); error < 0) {
    std::fprintf(stderr, "libcamera does not start: error %d\n", -error);
    return 1;
  }
  for (const auto &camera : manager.cameras()) {
    std::printf("%s\t%s\t%s", field(camera->id()).c_str(),
                field(std::string(camera->properties().get(properties::Model).value_or(""))).c_str(), location(*camera));
    for (const std::string &mode : modes(*camera)) std::printf("\t%s", field(mode).c_str());
    std::printf("\n");
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}
#endif
#else
int main() {
  std::fprintf(stderr, "this build has no video: it was made without the trait Video\n");
  return 1;
}
#endif
