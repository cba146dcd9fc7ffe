@_spi(FromOutside) import Conversions

#if Video
  import CGStreamer
  import Video

  /// The cameras of the computer. GStreamer's device provider finds the cameras of V4L2, and `tactus-cameras` finds those of libcamera.
  public enum CameraList {
    /// Prints the cameras of the computer as lines of JSON and returns the exit status.
    public static func printAll() -> Int32 {
      if let missing = VideoConfinement.apply(VideoSettings()) {
        complain("the kernel confines tactus-video only in part, without \(missing)")
      }
      do throws(VideoFailure) { try GStreamer.start() } catch {
        complain("\(error)")
        return 1
      }
      for camera in described() {
        func text(_ value: String) -> String {
          var escaped = ""
          for scalar in value.unicodeScalars {
            switch scalar {
            case "\"", "\\": escaped += "\\\(scalar)"
            case "\u{20}"...: escaped.unicodeScalars.append(scalar)
            default: escaped += " "
            }
          }
          return "\"\(escaped)\""
        }
        print(
          "{\"name\":\(text(camera.name)),\"kind\":\(text(camera.kind)),\"device\":\(text(camera.device)),"
            + "\"location\":\(text(camera.location)),\"modes\":[\(camera.modes.map(text).joined(separator: ","))]}")
      }
      return 0
    }

    /// Returns the cameras with model, location and modes. Waits for the drivers for about 100 ms, or 5 s if a driver hangs, which is
    /// less than a client waits.
    static func described() -> [VideoCamera] {
      let cameras = found().map(\.camera)
      guard let known = askLibcamera() else { return cameras }
      return known + cameras.filter { $0.kind != "libcamera" }
    }

    /// Asks libcamera in a process of its own. Returns `nil` if the program is missing or fails.
    private static func askLibcamera() -> [VideoCamera]? {
      let own = GStreamer.string(freeing: g_file_read_link("/proc/self/exe", nil))
      guard let end = own.lastIndex(of: "/") else { return nil }
      var output: UnsafeMutablePointer<CChar>?
      var status: Int32 = 0
      var words = [g_strdup(own[...end] + "tactus-cameras"), nil]
      defer { g_free(words[0]) }
      let isRun = g_spawn_sync(
        nil, &words, nil, G_SPAWN_STDERR_TO_DEV_NULL, nil, nil, &output, nil, &status, nil)
      let text = GStreamer.string(freeing: output)
      guard isRun != 0, status == 0 else { return nil }
      return text.split(separator: "\n").compactMap { VideoCamera(libcameraLine: $0) }
    }

    /// A camera as found by GStreamer, which knows only the name of a libcamera camera.
    struct Found {
      var camera: VideoCamera
      /// The size of the camera's raw pictures that is nearest to the wanted one, or `nil` if the sizes are not known.
      var size: PictureSize?
    }

    /// Returns the cameras reported by the drivers. Takes about 10 ms, more while a camera is slow to answer.
    static func found(wanted: PictureSize = PictureSize(640, 480)) -> [Found] {
      guard let monitor = gst_device_monitor_new() else { return [] }
      defer { gst_object_unref(monitor) }
      gst_device_monitor_add_filter(monitor, "Video/Source", nil)
      guard gst_device_monitor_start(monitor) != 0 else { return [] }
      defer { gst_device_monitor_stop(monitor) }
      var cameras: [Found] = []
      let devices = gst_device_monitor_get_devices(monitor)
      var next = devices
      while let link = next {
        next = link.pointee.next
        guard let data = link.pointee.data else { continue }
        let device = data.assumingMemoryBound(to: GstDevice.self)
        if let camera = camera(device) { cameras.append(Found(camera: camera, size: size(of: device, wanted: wanted))) }
        gst_object_unref(data)
      }
      g_list_free(devices)
      return cameras
    }

    /// Drivers whose V4L2 devices look like cameras but are parts of the Raspberry Pi: receivers, image processors, codecs.
    private static let parts: Set = ["bcm2835-codec", "bcm2835-isp", "pispbe", "rp1-cfe", "unicam"]

    /// Returns the camera for a device, or `nil` if the device belongs to neither libcamera nor V4L2 or is not a camera.
    private static func camera(_ device: UnsafeMutablePointer<GstDevice>) -> VideoCamera? {
      let name = GStreamer.string(freeing: gst_device_get_display_name(device))
      guard let element = gst_device_create_element(device, nil) else { return nil }
      gst_object_ref_sink(element)
      defer { gst_object_unref(element) }
      let kind = GStreamer.string(freeing: gst_element_get_factory(element).flatMap { gst_object_get_name(cast($0)) })
      let modes = modes(of: device)
      switch kind {
      case "libcamerasrc":
        return VideoCamera(
          name: name, kind: "libcamera", device: text("camera-name", of: element), location: "", modes: modes)
      case "v4l2src":
        // Bayer is what a CSI sensor gives before libcamera has made a picture of it.
        guard !parts.contains(property("v4l2.device.driver", of: device) ?? ""),
          modes.isEmpty || modes.contains(where: { $0.hasPrefix("raw") || $0.hasPrefix("jpeg") })
        else {
          return nil
        }
        return VideoCamera(
          name: name, kind: "v4l2", device: text("device", of: element), location: "", modes: modes)
      default: return nil
      }
    }

    private static func cast(_ factory: OpaquePointer) -> UnsafeMutablePointer<GstObject> {
      UnsafeMutableRawPointer(factory).assumingMemoryBound(to: GstObject.self)
    }

    private static func property(_ name: String, of device: UnsafeMutablePointer<GstDevice>) -> String? {
      guard let properties = gst_device_get_properties(device) else { return nil }
      defer { gst_structure_free(properties) }
      guard let value = gst_structure_get_value(properties, name) else { return nil }
      return GStreamer.string(freeing: gst_value_serialize(value))
    }

    private static func text(_ property: String, of element: UnsafeMutablePointer<GstElement>) -> String {
      var value = GValue()
      g_object_get_property(
        UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self), property, &value)
      defer { g_value_unset(&value) }
      return g_value_get_string(&value).map { String(cString: $0) } ?? ""
    }

    private static func size(of device: UnsafeMutablePointer<GstDevice>, wanted: PictureSize) -> PictureSize? {
      guard let caps = gst_device_get_caps(device) else { return nil }
      defer { gst_caps_unref(caps) }
      let sizes = (0..<gst_caps_get_size(caps)).compactMap { index -> PictureSize? in
        let structure = gst_caps_get_structure(caps, index)
        guard gst_structure_has_name(structure, "video/x-raw") != 0, let copy = gst_structure_copy(structure) else {
          return nil
        }
        defer { gst_structure_free(copy) }
        // A range is fixed to the value nearest to the wanted size.
        gst_structure_fixate_field_nearest_int(copy, "width", Int32(clamping: wanted.width))
        gst_structure_fixate_field_nearest_int(copy, "height", Int32(clamping: wanted.height))
        var (width, height): (Int32, Int32) = (0, 0)
        guard gst_structure_get_int(copy, "width", &width) != 0, gst_structure_get_int(copy, "height", &height) != 0
        else {
          return nil
        }
        return PictureSize(Int(width), Int(height))
      }
      return wanted.nearest(of: sizes)
    }

    /// Returns the first 64 picture formats, such as `raw 640×480 YUY2 30/1`.
    private static func modes(of device: UnsafeMutablePointer<GstDevice>) -> [String] {
      guard let caps = gst_device_get_caps(device) else { return [] }
      defer { gst_caps_unref(caps) }
      return (0..<min(gst_caps_get_size(caps), 64)).compactMap { index in
        guard let structure = gst_caps_get_structure(caps, index) else { return nil }
        let type = String(cString: gst_structure_get_name(structure))
        func field(_ name: String) -> String? {
          gst_structure_get_value(structure, name).map { GStreamer.string(freeing: gst_value_serialize($0)) }
        }
        let size = field("width").flatMap { width in field("height").map { "\(width)×\($0)" } }
        let words = [
          ["video/x-raw": "raw", "image/jpeg": "jpeg", "video/x-bayer": "bayer"][type] ?? type, size,
          field("format"), field("framerate"),
        ]
        return words.compactMap(\.self).joined(separator: " ")
      }
    }
  }
#endif
