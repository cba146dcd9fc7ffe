#if Video
  import CGStreamer
  import Wire

  /// The cameras of this machine, as GStreamer's device providers know them: libcamera's, where its plug-in is there, and V4L2's.
  public enum CameraList {
    /// Prints the cameras of this machine as lines of JSON. The exit status.
    public static func printAll() -> Int32 {
      do throws(VideoFailure) { try GStreamer.start() } catch {
        complain("\(error)")
        return 1
      }
      for camera in cameras() {
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

    /// Asks the drivers: some 10 ms, more while a camera is slow to answer.
    static func cameras() -> [VideoCamera] {
      guard let monitor = gst_device_monitor_new() else { return [] }
      defer { gst_object_unref(monitor) }
      gst_device_monitor_add_filter(monitor, "Video/Source", nil)
      guard gst_device_monitor_start(monitor) != 0 else { return [] }
      defer { gst_device_monitor_stop(monitor) }
      var cameras: [VideoCamera] = []
      let devices = gst_device_monitor_get_devices(monitor)
      var next = devices
      while let link = next {
        next = link.pointee.next
        guard let data = link.pointee.data else { continue }
        if let camera = camera(data.assumingMemoryBound(to: GstDevice.self)) { cameras.append(camera) }
        gst_object_unref(data)
      }
      g_list_free(devices)
      return cameras
    }

    /// Nil: neither of libcamera nor of V4L2, or one that only a CSI camera's own driver understands.
    private static func camera(_ device: UnsafeMutablePointer<GstDevice>) -> VideoCamera? {
      let name = GStreamer.take(gst_device_get_display_name(device))
      guard let element = gst_device_create_element(device, nil) else { return nil }
      gst_object_ref_sink(element)
      defer { gst_object_unref(element) }
      let kind = GStreamer.take(gst_element_get_factory(element).flatMap { gst_object_get_name(cast($0)) })
      let modes = modes(of: device)
      switch kind {
      case "libcamerasrc":
        return VideoCamera(
          name: property("api.libcamera.Model", of: device) ?? name, kind: "libcamera",
          device: text("camera-name", of: element), location: location(of: device), modes: modes)
      case "v4l2src":
        // Bayer is what a CSI sensor gives before libcamera has made a picture of it.
        guard modes.isEmpty || modes.contains(where: { $0.hasPrefix("raw") || $0.hasPrefix("jpeg") }) else {
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

    private static func location(of device: UnsafeMutablePointer<GstDevice>) -> String {
      let known = ["0": "front", "1": "back", "2": "external"]
      let value = property("api.libcamera.Location", of: device) ?? ""
      for (word, meaning) in known where value.hasSuffix(word) { return meaning }
      return value.lowercased().replacing("cameralocation", with: "")
    }

    private static func property(_ name: String, of device: UnsafeMutablePointer<GstDevice>) -> String? {
      guard let properties = gst_device_get_properties(device) else { return nil }
      defer { gst_structure_free(properties) }
      guard let value = gst_structure_get_value(properties, name) else { return nil }
      return GStreamer.take(gst_value_serialize(value))
    }

    private static func text(_ property: String, of element: UnsafeMutablePointer<GstElement>) -> String {
      var value = GValue()
      g_object_get_property(
        UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self), property, &value)
      defer { g_value_unset(&value) }
      return g_value_get_string(&value).map { String(cString: $0) } ?? ""
    }

    /// `raw 640×480 YUY2 30/1`, the first 64 of them.
    private static func modes(of device: UnsafeMutablePointer<GstDevice>) -> [String] {
      guard let caps = gst_device_get_caps(device) else { return [] }
      defer { gst_caps_unref(caps) }
      return (0..<min(gst_caps_get_size(caps), 64)).compactMap { index in
        guard let structure = gst_caps_get_structure(caps, index) else { return nil }
        let type = String(cString: gst_structure_get_name(structure))
        func field(_ name: String) -> String? {
          gst_structure_get_value(structure, name).map { GStreamer.take(gst_value_serialize($0)) }
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
