#if Video
  import CGStreamer
  import Glibc

  /// What C's macros do in GStreamer's headers, and Swift does not see.
  enum GStreamer {
    /// GST_CLOCK_TIME_NONE.
    static let noTime = GstClockTime.max

    /// To be called once, before anything else.
    ///
    /// - Throws: what GStreamer says.
    static func start() throws(VideoFailure) {
      // libcamera tells at every start what it has found; who wants to read it sets this.
      setenv("LIBCAMERA_LOG_LEVELS", "*:ERROR", 0)
      var error: UnsafeMutablePointer<GError>?
      guard gst_init_check(nil, nil, &error) == 0 else { return }
      throw VideoFailure("GStreamer does not start: \(take(error))")
    }

    /// The message of an error, which is freed.
    static func take(_ error: UnsafeMutablePointer<GError>?) -> String {
      guard let error else { return "no reason given" }
      defer { g_error_free(error) }
      return error.pointee.message.map { String(cString: $0) } ?? "no reason given"
    }

    /// A text of GLib's, which is freed.
    static func take(_ text: UnsafeMutablePointer<CChar>?) -> String {
      guard let text else { return "" }
      defer { g_free(text) }
      return String(cString: text)
    }

    static func has(_ element: String) -> Bool {
      guard let factory = gst_element_factory_find(element) else { return false }
      gst_object_unref(UnsafeMutableRawPointer(factory))
      return true
    }

    static func set(_ object: UnsafeMutableRawPointer, _ property: String, _ value: String) {
      gst_util_set_object_arg(object.assumingMemoryBound(to: GObject.self), property, value)
    }

    /// - Parameter handler: a C function of the signal's own shape.
    static func connect(
      _ object: UnsafeMutableRawPointer, _ signal: String, _ handler: GCallback, _ context: UnsafeMutableRawPointer
    ) {
      g_signal_connect_data(object, signal, handler, context, nil, GConnectFlags(rawValue: 0))
    }

    /// What a message on a bus says went wrong: in one line, the system's words with it.
    static func failure(_ message: UnsafeMutablePointer<GstMessage>) -> String {
      var error: UnsafeMutablePointer<GError>?
      var details: UnsafeMutablePointer<CChar>?
      gst_message_parse_error(message, &error, &details)
      let source = message.pointee.src.map { take(gst_object_get_name($0)) } ?? "unknown"
      let lines = take(details).split(separator: "\n").map(String.init)
      var text = "\(source): \(take(error))"
      // The first line names GStreamer's own source; the last is of the system, or of the element.
      if lines.count > 1, let last = lines.last, !text.contains(last) { text += " (\(last))" }
      return text
    }
  }

  /// Why there is no picture: for people, names what to do where that is known.
  struct VideoFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }
#endif
